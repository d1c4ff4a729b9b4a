// Makes the summary of what stands in a folder under one name, from its parts, and does so for many names at once.
#ifndef TOOLS_CLI_RANKS_NAMED_SUMMARY_H_
#define TOOLS_CLI_RANKS_NAMED_SUMMARY_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "memoir/v1/summary.pb.h"
#include "tools/read/summary_file.h"

namespace memoir {

// As AgeOf; and kOlder where the process has died on this host, with events in its ring that no part has.
SummaryAge AgeHere(const v1::RecordingSummaries& summaries, const JobFiles& job, const NamedFiles& files);
// Whether there is one that has all that was recorded.
bool HasFreshSummary(const JobFiles& job, const NamedFiles& files);

// Merges the ring of a dead process first; `say` gets a line where that was done. From several threads at once.
absl::StatusOr<v1::RecordingSummaries> SummaryOfNamed(const JobFiles& job, const NamedFiles& files,
                                                      const std::function<void(const std::string&)>& say);

// Writes the summaries of these, in the place of what is there. How many could not be written, of each of which `say`
// gets a line; never two at once.
std::size_t WriteSummaries(const JobFiles& job, const std::vector<const NamedFiles*>& named,
                           const std::function<void(const std::string&)>& say,
                           const std::function<void(double)>& progress);

// Calls `body` with 0 .. count - 1, on as many threads as there are processors, at most kMostAtOnce. Calls `progress`
// with the share done, on any of them, one at a time.
inline constexpr std::size_t kMostAtOnce = 4;
void AtOnce(std::size_t count, const std::function<void(std::size_t)>& body,
            const std::function<void(double)>& progress);

}  // namespace memoir

#endif  // TOOLS_CLI_RANKS_NAMED_SUMMARY_H_
