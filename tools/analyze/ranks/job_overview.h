// What an overview of a job says of its summaries: which ranks are there, how far apart they are, and who is at the
// ends of each spread.
#ifndef TOOLS_ANALYZE_RANKS_JOB_OVERVIEW_H_
#define TOOLS_ANALYZE_RANKS_JOB_OVERVIEW_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "memoir/v1/summary.pb.h"
#include "tools/model/job.h"

namespace memoir {

// Of one figure over the devices of a kind.
struct Spread {
  std::string_view name;  // "allocated"
  std::string_view json_key;
  std::uint64_t devices = 0;  // of which it is known
  std::uint64_t least = 0, median = 0, most = 0;
  std::string least_of, most_of;  // ranks; the first where several are equal
};

struct DeviceKind {
  std::string kind;  // "cuda"
  std::uint64_t devices = 0;
  std::uint64_t sum_peaks = 0;
  std::vector<Spread> spreads;  // those of which something is known
};

// A device of a rank.
struct RankDevice {
  const v1::RecordingSummary* recording = nullptr;
  const v1::DeviceSummary* device = nullptr;
};

// Something in which all ranks of a job should be alike: its values, and who has them.
struct Difference {
  std::string what;                                     // "torch"
  std::map<std::string, std::vector<std::string>> who;  // ranks, by value
};

struct JobOverview {
  Job ranks;
  std::vector<const v1::RecordingSummary*> recordings;  // those that are not idle
  std::vector<DeviceKind> kinds;                        // GPUs first
  std::vector<RankDevice> devices;                      // of the first kind, highest peak first
  std::vector<Difference> differences;                  // only where there is one
  std::uint64_t events = 0, lost_events = 0, damaged = 0;
  std::uint64_t duration_ns = 0;  // the longest
  std::uint64_t least_steps = 0, most_steps = 0;
};

// Points into `job`, which must outlive it.
JobOverview OverviewOf(const v1::JobSummary& job);

// What may be said of each value of a Difference: "4,095 ranks", "rank 3".
std::string WhoText(const std::vector<std::string>& who);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_RANKS_JOB_OVERVIEW_H_
