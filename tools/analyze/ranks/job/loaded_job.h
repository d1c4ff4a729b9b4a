// A job as it was read for its overview, and the files that it was read from.
#ifndef TOOLS_ANALYZE_RANKS_JOB_LOADED_JOB_H_
#define TOOLS_ANALYZE_RANKS_JOB_LOADED_JOB_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "memoir/v1/summary.pb.h"

namespace memoir {

// Why a summary was not read, or does not cover the whole recording.
enum class SummaryLack : std::uint8_t { kMissing, kDamaged, kOlder, kBehind };

struct LackingSummary {
  std::string name;  // common name of the recording's files
  // kMissing: there is no summary. kDamaged: the summary cannot be read. kOlder: the summary does not match the files.
  // kBehind: the summary lacks the newest events.
  SummaryLack lack = SummaryLack::kMissing;
  std::string why;              // for kDamaged: "damaged", "of version 7"
  std::uint64_t behind_ns = 0;  // for kBehind: time from the summary's last write to the parts' last write
};

struct LoadedJob {
  std::string folder;
  v1::JobSummary job;
  bool has_recordings = true;           // false: the folder has only summaries
  std::uint64_t summaries = 0;          // number of summaries that were read instead of recordings
  std::vector<LackingSummary> lacking;  // in order of their names
  std::vector<std::string> unreadable;  // "NAME: why": neither the summary nor the recording was readable
  std::uint32_t run = 1, runs = 1;      // selected run, and number of runs; `run` is 0 for all runs
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_RANKS_JOB_LOADED_JOB_H_
