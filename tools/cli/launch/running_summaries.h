// Starts a separate process that writes summaries of a command's ranks while the command runs (`memoir run
// --summary-every`). If this process fails, the command continues.
#ifndef TOOLS_CLI_LAUNCH_RUNNING_SUMMARIES_H_
#define TOOLS_CLI_LAUNCH_RUNNING_SUMMARIES_H_

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace memoir {

class RunningSummaries {
 public:
  // `run`: the value of MEMOIR_RUN in the command's environment; recordings of other runs are ignored. `seconds`: the
  // interval at which `folder` is examined; 0: no process is started. Prints a line if the process cannot be started.
  RunningSummaries(const std::string& folder, const std::string& run, std::uint32_t seconds);
  RunningSummaries(const RunningSummaries&) = delete;
  RunningSummaries& operator=(const RunningSummaries&) = delete;
  // Ends the process at once.
  ~RunningSummaries();

 private:
  pid_t pid_ = 0;
};

}  // namespace memoir

#endif  // TOOLS_CLI_LAUNCH_RUNNING_SUMMARIES_H_
