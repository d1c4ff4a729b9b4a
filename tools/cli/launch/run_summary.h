// What `memoir run` does once its command has ended.
#ifndef TOOLS_CLI_LAUNCH_RUN_SUMMARY_H_
#define TOOLS_CLI_LAUNCH_RUN_SUMMARY_H_

#include <string>

namespace memoir {

// Merges what dead processes left, shows the summary on standard error, with the next command to type, and of a job of
// many ranks, or where they are wanted, writes the summaries of this host's (docs/ranks.md). `quiet`: says errors
// alone.
void FinishRecording(const std::string& folder, bool quiet, bool wants_summaries);

}  // namespace memoir

#endif  // TOOLS_CLI_LAUNCH_RUN_SUMMARY_H_
