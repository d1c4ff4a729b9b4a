// The last part of `memoir run`, after its command has ended.
#ifndef TOOLS_CLI_LAUNCH_RUN_SUMMARY_H_
#define TOOLS_CLI_LAUNCH_RUN_SUMMARY_H_

#include <string>

#include "tools/view/summary/ending_text.h"

namespace memoir {

// Merges the rings of dead processes, and prints the summary and the next command to type on standard error. For a job
// with many ranks, or if requested, also writes the summaries of this host's ranks (docs/ranks.md). `quiet`: prints
// only errors.
void FinishRecording(const std::string& folder, const CommandEnd& end, bool quiet, bool wants_summaries);

}  // namespace memoir

#endif  // TOOLS_CLI_LAUNCH_RUN_SUMMARY_H_
