// The summaries that `memoir run` leaves behind, so that a large job has its overview without another command.
#ifndef TOOLS_CLI_RANKS_OWN_SUMMARIES_H_
#define TOOLS_CLI_RANKS_OWN_SUMMARIES_H_

#include <functional>
#include <string>

namespace memoir {

// Of jobs whose overview is shown (kRanksOfTables), or of `any`: writes the summaries of recordings in `folder` whose
// processes ran on this host and have ended, where none is there that fits. Each host of a job takes its own in this
// way. `say` gets a line for each that cannot be written.
void SummarizeOwnRecordings(const std::string& folder, bool any, const std::function<void(const std::string&)>& say,
                            const std::function<void(double)>& progress);

}  // namespace memoir

#endif  // TOOLS_CLI_RANKS_OWN_SUMMARIES_H_
