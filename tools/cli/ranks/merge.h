// memoir summarize -o FILE: the summaries of folders, and of files that hold many, in one file.
#ifndef TOOLS_CLI_RANKS_MERGE_H_
#define TOOLS_CLI_RANKS_MERGE_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace memoir {

struct Merged {
  std::size_t summaries = 0;  // in the file
  std::size_t failed = 0;     // that are not, of each of which `say` got a line
};

// `captures`: folders, recordings, files of summaries. What a folder has no fresh summary of is summarized, and not
// written there. Nothing is written where there is nothing to write, or an input is not there.
absl::StatusOr<Merged> MergeSummaries(const std::vector<std::string>& captures, const std::string& output,
                                      const std::function<void(const std::string&)>& say,
                                      const std::function<void(double)>& progress);

}  // namespace memoir

#endif  // TOOLS_CLI_RANKS_MERGE_H_
