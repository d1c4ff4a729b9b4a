// Makes the summary of what stands in a folder under one name, from its parts, and does so for many names at once.
#ifndef TOOLS_CLI_RANKS_NAMED_SUMMARY_H_
#define TOOLS_CLI_RANKS_NAMED_SUMMARY_H_

#include <cstddef>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "memoir/v1/summary.pb.h"
#include "tools/read/summary_file.h"

namespace memoir {

// Merges the ring of a dead process first; `say` gets a line where that was done. From several threads at once.
absl::StatusOr<v1::RecordingSummaries> SummaryOfNamed(const JobFiles& job, const NamedFiles& files,
                                                      const std::function<void(const std::string&)>& say);

// Calls `body` with 0 .. count - 1, on as many threads as there are processors, at most kMostAtOnce. Calls `progress`
// with the share done, on any of them, one at a time.
inline constexpr std::size_t kMostAtOnce = 4;
void AtOnce(std::size_t count, const std::function<void(std::size_t)>& body,
            const std::function<void(double)>& progress);

}  // namespace memoir

#endif  // TOOLS_CLI_RANKS_NAMED_SUMMARY_H_
