// memoir summarize -o FILE: merges the summaries of folders, and of files with many summaries, into one file.
#ifndef TOOLS_CLI_RANKS_MERGE_H_
#define TOOLS_CLI_RANKS_MERGE_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace memoir {

struct MergeResult {
  std::size_t summaries = 0;  // number of summaries in the file
  std::size_t failed = 0;     // number of summaries that are missing in the file; `say` received lines about them
};

// `captures`: folders, recordings, files of summaries. Recordings without a current summary are summarized, but nothing
// is written into their folders. Writes no file if the file would be empty, or if an input does not exist.
absl::StatusOr<MergeResult> MergeSummaries(const std::vector<std::string>& captures, const std::string& output,
                                           const std::function<void(const std::string&)>& say,
                                           const std::function<void(double)>& progress);

}  // namespace memoir

#endif  // TOOLS_CLI_RANKS_MERGE_H_
