// The summaries of a command's ranks while it runs (`memoir run --summary-every`), made by a process of its own: if
// that fails, the command goes on.
#ifndef TOOLS_CLI_LAUNCH_RUNNING_SUMMARIES_H_
#define TOOLS_CLI_LAUNCH_RUNNING_SUMMARIES_H_

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace memoir {

class RunningSummaries {
 public:
  // `run`: MEMOIR_RUN of the command; other recordings are left to others. `seconds`: from one look at `folder` to the
  // next; 0: nothing is started. Says a line where it cannot be.
  RunningSummaries(const std::string& folder, const std::string& run, std::uint32_t seconds);
  RunningSummaries(const RunningSummaries&) = delete;
  RunningSummaries& operator=(const RunningSummaries&) = delete;
  // Ends it, at once.
  ~RunningSummaries();

 private:
  pid_t pid_ = 0;
};

}  // namespace memoir

#endif  // TOOLS_CLI_LAUNCH_RUNNING_SUMMARIES_H_
