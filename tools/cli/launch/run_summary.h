// What `memoir run` does once its command has ended.
#ifndef TOOLS_CLI_LAUNCH_RUN_SUMMARY_H_
#define TOOLS_CLI_LAUNCH_RUN_SUMMARY_H_

#include <string>

namespace memoir {

// Merges what dead processes left, and shows the summary on standard error, with the next command to type. `quiet`:
// says errors alone.
void FinishRecording(const std::string& folder, bool quiet);

}  // namespace memoir

#endif  // TOOLS_CLI_LAUNCH_RUN_SUMMARY_H_
