#include "tracker/drain/drain_process.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>

namespace memoir {
namespace {

constexpr std::size_t kStackBytes = 64 * 1024;
constexpr unsigned kFirstToClose = 3;

struct Command {
  const char* program;
  char* const* arguments;
};

// In the child, which shares the program's memory until its exec: system calls only. All signals are blocked, so no
// handler of the program's runs here.
int Become(void* given) {
  const auto* command = static_cast<const Command*>(given);
  setsid();  // a ^C at the terminal is the program's
  const int null = open("/dev/null", O_RDWR);
  for (int stream = 0; null >= 0 && stream <= 2; ++stream) dup2(null, stream);
#ifdef SYS_close_range
  syscall(SYS_close_range, kFirstToClose, ~0u, 0u);
#endif
  char* const nothing[] = {nullptr};
  execve(command->program, command->arguments, nothing);
  _exit(127);
}

// Without an end signal (the flags' lowest byte), and this thread waits for the exec.
pid_t StartWithoutSignal(Command* command) {
  const std::unique_ptr<char[]> stack(new char[kStackBytes]);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = clone(Become, stack.get() + kStackBytes, CLONE_VM | CLONE_VFORK, command);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return pid;
}

}  // namespace

bool DrainProcess::Start(const std::string& ring, bool may_remove) {
  if (program_.empty() || pid_ > 0) return false;
  std::string name = "memoir-drain", option = "--or-remove", path = ring;
  char* const both[] = {name.data(), option.data(), path.data(), nullptr};
  char* const one[] = {name.data(), path.data(), nullptr};
  Command command{program_.c_str(), may_remove ? both : one};
  pid_ = StartWithoutSignal(&command);
  return pid_ > 0;
}

DrainProcess::State DrainProcess::Look() {
  if (pid_ <= 0) return State::kNone;
  int status = 0;
  const pid_t ended = waitpid(pid_, &status, WNOHANG | __WALL);
  if (ended == 0 || (ended < 0 && errno == EINTR)) return State::kRunning;
  pid_ = -1;
  return ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? State::kDone : State::kFailed;
}

std::string InstalledDrain() {
  Dl_info here;
  if (dladdr(reinterpret_cast<void*>(&InstalledDrain), &here) == 0 || here.dli_fname == nullptr) return "";
  std::error_code error;
  const std::filesystem::path library = std::filesystem::canonical(here.dli_fname, error);
  if (error) return "";
  // <root>/lib/memoir/libmemoir_tracker-torchX.Y.so
  const std::filesystem::path root = library.parent_path().parent_path().parent_path();
  const std::filesystem::path drain = root / MEMOIR_LIBEXEC_DIR / "memoir-drain";
  return std::filesystem::exists(drain, error) ? drain.string() : "";
}

}  // namespace memoir
