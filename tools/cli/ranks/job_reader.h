// Reads a job for its overview: the summaries of its recordings, and where one is not to be had, or is older than its
// recording, the recording itself.
#ifndef TOOLS_CLI_RANKS_JOB_READER_H_
#define TOOLS_CLI_RANKS_JOB_READER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "tools/analyze/ranks/job_reading.h"

namespace memoir {

struct JobReadOptions {
  bool asked = false;     // false: only where there are more ranks than kRanksOfTables
  std::uint32_t run = 0;  // as Capture::Open has it
  std::function<void(const std::string&)> say;
  std::function<void(double)> progress;
  // Gets the summary of each recording of the run whole: a JobSummary has sums of their windows and rows.
  std::function<void(const v1::RecordingSummary&)> each;
};

// A job of more ranks is shown by its overview.
inline constexpr std::size_t kRanksOfTables = 8;

// Nothing: there are fewer ranks than that, or it is no folder.
absl::StatusOr<std::optional<JobReading>> ReadJob(const std::string& folder, const JobReadOptions& options);

}  // namespace memoir

#endif  // TOOLS_CLI_RANKS_JOB_READER_H_
