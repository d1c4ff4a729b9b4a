// Starts a program. No other code of the tools forks. posix_spawn is not used, because it cannot make a child die with
// its parent (PR_SET_PDEATHSIG).
#ifndef TOOLS_CLI_PROCESS_SPAWN_H_
#define TOOLS_CLI_PROCESS_SPAWN_H_

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace memoir {

struct SpawnOptions {
  const std::vector<std::string>* environment = nullptr;  // the whole environment; nullptr: this process's
  int input = -1, output = -1, errors = -1;               // the program's standard streams; -1: inherited
  bool own_group = false;          // true: the program gets its own process group, so ^C does not reach the program
  int dies_with_us = 0;            // the signal that the program receives when this process ends; 0: no signal
  std::function<void()> in_child;  // called in the child just before the program runs; may only make system calls
};

struct SpawnResult {
  pid_t pid = 0;  // 0: the program was not started
  int error = 0;  // errno if the program was not started
};

// Starts `command`, which is found on PATH. Returns as soon as the program runs or could not be started.
SpawnResult Spawn(const std::vector<std::string>& command, const SpawnOptions& options);

// Waits until a child ends, even if signals interrupt the wait. Returns waitpid's status.
int WaitFor(pid_t pid);

}  // namespace memoir

#endif  // TOOLS_CLI_PROCESS_SPAWN_H_
