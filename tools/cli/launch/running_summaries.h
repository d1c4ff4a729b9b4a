// The summaries of this host's ranks while a command runs (`memoir run --summary-every`), by a program of its own: what
// becomes of it is nothing to the command.
#ifndef TOOLS_CLI_LAUNCH_RUNNING_SUMMARIES_H_
#define TOOLS_CLI_LAUNCH_RUNNING_SUMMARIES_H_

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace memoir {

class RunningSummaries {
 public:
  // `seconds`: from one look at `folder` to the next; 0: does nothing.
  RunningSummaries(const std::string& folder, std::uint32_t seconds);
  RunningSummaries(const RunningSummaries&) = delete;
  RunningSummaries& operator=(const RunningSummaries&) = delete;
  // Ends it, at once.
  ~RunningSummaries();

 private:
  pid_t pid_ = 0;
};

}  // namespace memoir

#endif  // TOOLS_CLI_LAUNCH_RUNNING_SUMMARIES_H_
