// Starts a program: the one place that forks. Not by posix_spawn, with which no child dies with us (PR_SET_PDEATHSIG).
#ifndef TOOLS_CLI_PROCESS_SPAWN_H_
#define TOOLS_CLI_PROCESS_SPAWN_H_

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace memoir {

struct SpawnOptions {
  const std::vector<std::string>* environment = nullptr;  // exactly this; nullptr: ours
  int input = -1, output = -1, errors = -1;               // descriptors that become its standard streams; -1: ours
  bool own_group = false;          // so that what it starts can be ended with it; ^C then reaches us alone
  int dies_with_us = 0;            // the signal that it gets when we end; 0: none
  std::function<void()> in_child;  // last before the program: system calls only
};

struct Spawned {
  pid_t pid = 0;  // 0: not started
  int error = 0;  // errno then
};

// `command` is found by PATH. Returns once the program runs, or could not be started.
Spawned Spawn(const std::vector<std::string>& command, const SpawnOptions& options);

// Waits for a child, through signals. What waitpid says of it.
int WaitFor(pid_t pid);

}  // namespace memoir

#endif  // TOOLS_CLI_PROCESS_SPAWN_H_
