// Makes the summary of the parts that share a name in a folder (NamedFiles), for many names at once.
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

// Returns SummaryAgeOf(), but kOlder if the process died on this host and its ring has events that no part has.
SummaryAge AgeHere(const v1::RecordingSummaries& summaries, const JobFiles& job, const NamedFiles& files);
// Returns true if the files have a summary that covers everything that was recorded.
bool HasFreshSummary(const JobFiles& job, const NamedFiles& files);

// Makes the summary of `files`. If the process is dead and left a ring, first merges the ring; `say` then receives a
// line. May be called from several threads at once.
absl::StatusOr<v1::RecordingSummaries> SummaryOfNamed(const JobFiles& job, const NamedFiles& files,
                                                      const std::function<void(const std::string&)>& say);

// Writes the summaries of these names over the existing summaries. Returns the number of failures. `say` receives a
// line for each failure, and is never called by two threads at once.
std::size_t WriteSummaries(const JobFiles& job, const std::vector<const NamedFiles*>& named,
                           const std::function<void(const std::string&)>& say,
                           const std::function<void(double)>& progress);

// Calls `body` with 0 .. count - 1, on as many threads as there are processors, at most kMostAtOnce. Calls `progress`
// with the finished share on any of these threads, but never on two at once.
inline constexpr std::size_t kMostAtOnce = 4;
void RunInParallel(std::size_t count, const std::function<void(std::size_t)>& body,
                   const std::function<void(double)>& progress);

}  // namespace memoir

#endif  // TOOLS_CLI_RANKS_NAMED_SUMMARY_H_
