// The summaries that `memoir run` writes at its end, so that a large job has an overview without another command.
#ifndef TOOLS_CLI_RANKS_OWN_SUMMARIES_H_
#define TOOLS_CLI_RANKS_OWN_SUMMARIES_H_

#include <functional>
#include <string>

namespace memoir {

// Writes the summaries of recordings in `folder` whose processes ran on this host and have ended, if no current summary
// exists. Does nothing for jobs of up to kRanksOfTables ranks, unless `any` is true. Each host of a job does this for
// its own recordings. `say` receives a line for each summary that cannot be written.
void SummarizeOwnRecordings(const std::string& folder, bool any, const std::function<void(const std::string&)>& say,
                            const std::function<void(double)>& progress);

}  // namespace memoir

#endif  // TOOLS_CLI_RANKS_OWN_SUMMARIES_H_
