#include "tools/cli/launch/running_summaries.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

#include "fmt/format.h"
#include "tools/cli/installed/install_tree.h"
#include "tools/cli/process/spawn.h"
#include "tools/cli/terminal/printed_messages.h"

namespace memoir {

RunningSummaries::RunningSummaries(const std::string& folder, const std::string& run, std::uint32_t seconds) {
  if (seconds == 0) return;
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  SpawnOptions options;
  options.input = options.output = options.errors = null;
  options.own_group = true;  // ^C must not end this process, because the command may continue
  options.dies_with_us = SIGKILL;
  // Sets the lowest normal priority. With SCHED_IDLE the process would hardly run while all processors are busy.
  options.in_child = [] { setpriority(PRIO_PROCESS, 0, 19); };
  const std::string program = FindInstallTree().root / "bin" / "memoir";
  const std::vector<std::string> command = {program, "summarize", "--every", std::to_string(seconds),
                                            "--own", "--of-run",  run,       folder};
  const SpawnResult child = null < 0 ? SpawnResult{.error = errno} : Spawn(command, options);
  pid_ = child.pid;
  if (null >= 0) close(null);
  if (child.error != 0)
    PrintMessage(fmt::format("no summaries while the command runs: {}", std::strerror(child.error)));
}

RunningSummaries::~RunningSummaries() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  WaitFor(pid_);
}

}  // namespace memoir
