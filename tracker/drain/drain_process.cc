#include "tracker/drain/drain_process.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <memory>
#include <string>

namespace memoir {
namespace {

constexpr std::size_t kStackBytes = 64 * 1024;
constexpr unsigned kFirstToClose = 3;

struct Command {
  const char* program;
  char* const* arguments;
  void* inner_stack;  // top of the new process's stack
  pid_t pid;          // of the new process; -1: it was not started
  bool is_refused;    // true: the new process could not execute `program`
};

// Runs in a process that shares the program's memory until it calls exec, so it makes system calls only. All signals
// are blocked, so no handler of the program runs here.
int Become(void* given) {
  auto* command = static_cast<Command*>(given);
  setsid();  // starts a new session, so that a ^C at the terminal does not reach this process
  const int null = open("/dev/null", O_RDWR);
  for (int stream = 0; null >= 0 && stream <= 2; ++stream) dup2(null, stream);
#ifdef SYS_close_range
  syscall(SYS_close_range, kFirstToClose, ~0u, 0u);
#endif
  char* const nothing[] = {nullptr};
  execve(command->program, command->arguments, nothing);
  command->is_refused = true;
  _exit(127);
}

// Runs in the intermediate process that StartWithoutSignal starts. Starts the new process, and ends once the new
// process has called exec. After that the new process is no child of the program.
int StartAndLeave(void* given) {
  auto* command = static_cast<Command*>(given);
  command->pid = clone(Become, command->inner_stack, CLONE_VM | CLONE_VFORK, command);
  _exit(0);
}

// Starts the process so that no signal reports its end to the program. The lowest byte of clone's flags is the signal
// that a process sends to its parent when it ends. The byte is 0 here, but exec sets the signal to SIGCHLD again. So an
// intermediate process starts the new process and ends. This thread waits until the new process has called exec.
pid_t StartWithoutSignal(Command* command) {
  const std::unique_ptr<char[]> stacks(new char[2 * kStackBytes]);
  command->inner_stack = stacks.get() + 2 * kStackBytes;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t between = clone(StartAndLeave, stacks.get() + kStackBytes, CLONE_VM | CLONE_VFORK, command);
  while (between > 0 && waitpid(between, nullptr, __WCLONE) < 0 && errno == EINTR) {
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return between > 0 && !command->is_refused ? command->pid : -1;
}

// Returns true if orphaned processes become children of this process, because it is process 1 of a container, or a
// subreaper. The program would then see memoir-drain among its children.
bool AdoptsOrphans() {
  int adopts = 0;
  return getpid() == 1 || (prctl(PR_GET_CHILD_SUBREAPER, &adopts) == 0 && adopts != 0);
}

}  // namespace

bool DrainProcess::Start(const std::string& ring, bool may_remove) {
  if (program_.empty() || is_running_ || AdoptsOrphans()) return false;
  std::string name = "memoir-drain", option = "--or-remove", path = ring;
  char* const both[] = {name.data(), option.data(), path.data(), nullptr};
  char* const one[] = {name.data(), path.data(), nullptr};
  Command command{program_.c_str(), may_remove ? both : one, nullptr, -1, false};
  const pid_t pid = StartWithoutSignal(&command);
  if (pid <= 0) return false;
  process_ = IdentityOf(static_cast<std::uint64_t>(pid));
  ring_ = ring;
  is_running_ = true;
  return true;
}

DrainProcess::State DrainProcess::Look() {
  if (!is_running_) return State::kNone;
  if (IsRunning(process_)) return State::kRunning;
  is_running_ = false;
  return access(ring_.c_str(), F_OK) != 0 ? State::kDone : State::kFailed;
}

std::string InstalledDrain() {
  Dl_info here;
  if (dladdr(reinterpret_cast<void*>(&InstalledDrain), &here) == 0 || here.dli_fname == nullptr) return "";
  char path[PATH_MAX];
  if (realpath(here.dli_fname, path) == nullptr) return "";
  // The path of this library: <root>/lib/memoir/libmemoir_tracker-torchX.Y.so.
  std::string root = path;
  for (int above = 0; above < 3; ++above) root.erase(std::min(root.rfind('/'), root.size()));
  const std::string drain = root + "/" MEMOIR_LIBEXEC_DIR "/memoir-drain";
  return access(drain.c_str(), F_OK) == 0 ? drain : "";
}

}  // namespace memoir
