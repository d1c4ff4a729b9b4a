// A job as it was read for its overview, and from what.
#ifndef TOOLS_ANALYZE_RANKS_JOB_READING_H_
#define TOOLS_ANALYZE_RANKS_JOB_READING_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "memoir/v1/summary.pb.h"

namespace memoir {

// Why a summary was not read, or is not of all that was recorded.
enum class SummaryLack : std::uint8_t { kMissing, kDamaged, kOlder, kBehind };

struct LackingSummary {
  std::string name;  // of the recording's files
  SummaryLack lack = SummaryLack::kMissing;
  std::string why;              // of kDamaged: "damaged", "of version 7"
  std::uint64_t behind_ns = 0;  // of kBehind: by how much
};

struct JobReading {
  std::string folder;
  v1::JobSummary job;
  bool has_recordings = true;           // false: there are summaries alone
  std::uint64_t summaries = 0;          // that were read in the place of recordings
  std::vector<LackingSummary> lacking;  // in order of their names
  std::vector<std::string> unreadable;  // "NAME: why": neither summary nor recording
  std::uint32_t run = 1, runs = 1;      // 0: all of them
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_RANKS_JOB_READING_H_
