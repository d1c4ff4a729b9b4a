// An overview of a job from its summaries: its ranks, the spread of their figures, and the ranks with the smallest and
// largest figures.
#ifndef TOOLS_ANALYZE_RANKS_JOB_JOB_OVERVIEW_H_
#define TOOLS_ANALYZE_RANKS_JOB_JOB_OVERVIEW_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "memoir/v1/summary.pb.h"
#include "tools/model/job.h"

namespace memoir {

// The spread of one figure over the devices of a kind.
struct FigureSpread {
  std::string_view name;  // "allocated"
  std::string_view json_key;
  std::uint64_t devices = 0;  // devices on which the figure is known
  std::uint64_t least = 0, median = 0, most = 0;
  std::string least_of, most_of;  // labels of the ranks; the first of several with equal figures
};

struct DeviceKind {
  std::string kind;  // "cuda"
  std::uint64_t devices = 0;
  std::uint64_t sum_peaks = 0;        // sum of the peaks of allocated bytes
  std::vector<FigureSpread> spreads;  // of the figures that are known on at least one device
};

// A device of a rank.
struct RankDevice {
  const v1::RecordingSummary* recording = nullptr;
  const v1::DeviceSummary* device = nullptr;
};

// A property that all ranks of a job should share: its values, and the ranks with each value.
struct RankDifference {
  std::string what;                                     // "torch"
  std::map<std::string, std::vector<std::string>> who;  // ranks, by value
};

struct JobOverview {
  Job ranks;
  std::vector<const v1::RecordingSummary*> recordings;     // recordings that are not idle
  std::vector<DeviceKind> kinds;                           // GPUs first
  std::vector<RankDevice> devices;                         // devices of the first kind, highest peak first
  std::vector<RankDifference> differences;                 // properties with more than one value
  std::uint64_t events = 0, lost_events = 0, damaged = 0;  // `damaged`: number of damaged recordings
  std::uint64_t duration_ns = 0;                           // duration of the longest recording
  std::uint64_t least_steps = 0, most_steps = 0;           // fewest and most steps of a rank
};

// The result points into `job`, which must outlive it.
JobOverview OverviewOf(const v1::JobSummary& job);

// Returns the ranks with a value of a RankDifference as text: "4,095 ranks", "rank 3".
std::string WhoText(const std::vector<std::string>& who);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_RANKS_JOB_JOB_OVERVIEW_H_
