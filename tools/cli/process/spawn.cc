#include "tools/cli/process/spawn.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace memoir {
namespace {

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& text : strings) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

void Become(int descriptor, int standard) {
  if (descriptor >= 0) dup2(descriptor, standard);
}

// Runs in the child. If exec fails, writes errno to the pipe `report`. If exec succeeds, the kernel closes the pipe.
[[noreturn]] void Execute(const std::vector<char*>& argv, char* const* environment, const SpawnOptions& options,
                          pid_t parent, int report) {
  if (options.own_group) setpgid(0, 0);
  if (options.dies_with_us != 0) {
    prctl(PR_SET_PDEATHSIG, options.dies_with_us);
    if (getppid() != parent) _exit(127);  // the parent ended before prctl()
  }
  Become(options.input, STDIN_FILENO);
  Become(options.output, STDOUT_FILENO);
  Become(options.errors, STDERR_FILENO);
  if (options.in_child) options.in_child();
  execvpe(argv[0], argv.data(), environment);
  const int error = errno;
  [[maybe_unused]] const auto written = write(report, &error, sizeof error);
  _exit(127);
}

}  // namespace

SpawnResult Spawn(const std::vector<std::string>& command, const SpawnOptions& options) {
  const auto argv = Pointers(command);
  std::vector<char*> variables;
  if (options.environment != nullptr) variables = Pointers(*options.environment);
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return {.error = errno};
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) Execute(argv, options.environment == nullptr ? environ : variables.data(), options, parent, report[1]);
  int error = pid < 0 ? errno : 0;
  if (pid > 0 && options.own_group) setpgid(pid, pid);  // parent and child both do this, because either may run first
  close(report[1]);
  while (pid > 0 && read(report[0], &error, sizeof error) < 0 && errno == EINTR) {
  }
  close(report[0]);
  if (pid > 0 && error != 0) WaitFor(pid);
  return error == 0 ? SpawnResult{.pid = pid} : SpawnResult{.error = error};
}

int WaitFor(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace memoir
