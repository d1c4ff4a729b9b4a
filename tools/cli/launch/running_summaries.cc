#include "tools/cli/launch/running_summaries.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <csignal>
#include <vector>

#include "tools/cli/installed/install_tree.h"
#include "tools/cli/process/spawn.h"

namespace memoir {

RunningSummaries::RunningSummaries(const std::string& folder, std::uint32_t seconds) {
  if (seconds == 0) return;
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  SpawnOptions options;
  options.input = options.output = options.errors = null;
  options.own_group = true;  // ^C is the command's, which may go on
  options.dies_with_us = SIGKILL;
  options.in_child = [] {
    const sched_param none = {};
    sched_setscheduler(0, SCHED_IDLE, &none);  // what the command leaves of the processors
  };
  const std::string program = FindInstallTree().root / "bin" / "memoir";
  pid_ = Spawn({program, "summarize", "--every", std::to_string(seconds), "--own", folder}, options).pid;
  close(null);
}

RunningSummaries::~RunningSummaries() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  WaitFor(pid_);
}

}  // namespace memoir
