// Reads the summaries of a job's recordings, from which the overview of the job is made. If a summary is missing or
// older than its recording, reads the recording instead.
#ifndef TOOLS_CLI_RANKS_JOB_READER_H_
#define TOOLS_CLI_RANKS_JOB_READER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "tools/analyze/ranks/job/loaded_job.h"

namespace memoir {

struct JobReadOptions {
  bool asked = false;     // false: reads only jobs with more ranks than kRanksOfTables, or without recordings
  std::uint32_t run = 0;  // as in Capture::Open()
  std::function<void(const std::string&)> say;
  std::function<void(double)> progress;
  // Receives the complete summary of each recording of the run. The JobSummary in the result contains only sums over
  // the windows and rows of these summaries.
  std::function<void(const v1::RecordingSummary&)> each;
};

// A job with more ranks than this is shown by its overview, not by tables.
inline constexpr std::size_t kRanksOfTables = 8;

// Returns nullopt if `asked` is false, and the job has too few ranks or `folder` is not a folder.
absl::StatusOr<std::optional<LoadedJob>> ReadJob(const std::string& folder, const JobReadOptions& options);

}  // namespace memoir

#endif  // TOOLS_CLI_RANKS_JOB_READER_H_
