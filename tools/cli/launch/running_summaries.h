// Summaries of a command's ranks while it runs (`memoir run --summary-every`). A separate process makes them, so that
// the command continues if this fails.
#ifndef TOOLS_CLI_LAUNCH_RUNNING_SUMMARIES_H_
#define TOOLS_CLI_LAUNCH_RUNNING_SUMMARIES_H_

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace memoir {

class RunningSummaries {
 public:
  // `run`: MEMOIR_RUN of the command; recordings of other runs are ignored. `seconds`: the interval at which `folder`
  // is examined; 0: no process is started. Prints a line if the process cannot be started.
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
