#include "tools/cli/process/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <string_view>

#include "tools/cli/process/spawn.h"

namespace memoir {
namespace {

constexpr std::array kForwarded = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

// The signal handler uses these variables.
volatile sig_atomic_t child_pid = 0;
volatile sig_atomic_t interrupts = 0;
volatile sig_atomic_t interrupts_to_kill = 0;

void ForwardSignal(int signal, siginfo_t* info, void*) {
  const int saved = errno;
  // si_code > 0: the kernel sent the signal for the terminal. The kernel also sent it to the child, which is in the
  // same process group.
  if (info->si_code <= 0 && child_pid > 0) kill(static_cast<pid_t>(child_pid), signal);
  if (signal == SIGINT) interrupts = interrupts + 1;
  if (interrupts_to_kill > 0 && interrupts >= interrupts_to_kill && child_pid > 0)
    kill(static_cast<pid_t>(child_pid), SIGKILL);
  errno = saved;
}

// Forwards signals while an object of this class exists. Signals that were ignored at the start (nohup, background
// jobs) stay ignored, also for the child.
class SignalForwarding {
 public:
  SignalForwarding() {
    struct sigaction action = {};
    action.sa_sigaction = &ForwardSignal;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    // If SIGCHLD were ignored, the child's exit code would be lost.
    struct sigaction usual = {};
    usual.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &usual, &old_of_child_);
    for (std::size_t i = 0; i < kForwarded.size(); ++i) {
      sigaction(kForwarded[i], nullptr, &old_[i]);
      if (old_[i].sa_handler != SIG_IGN) sigaction(kForwarded[i], &action, nullptr);
    }
  }
  ~SignalForwarding() { Restore(); }
  void Restore() const {
    for (std::size_t i = 0; i < kForwarded.size(); ++i) sigaction(kForwarded[i], &old_[i], nullptr);
    sigaction(SIGCHLD, &old_of_child_, nullptr);
    child_pid = 0;
  }
  SignalForwarding(const SignalForwarding&) = delete;
  SignalForwarding& operator=(const SignalForwarding&) = delete;

 private:
  std::array<struct sigaction, kForwarded.size()> old_;
  struct sigaction old_of_child_;
};

// Blocks signals between fork and the store to child_pid, so that no signal is lost.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &old_);
  }
  ~SignalsBlocked() { Restore(); }
  void Restore() const { sigprocmask(SIG_SETMASK, &old_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t old_;
};

// Reads until the end of the output, 1 MiB, an error or the deadline. Returns true only at the end of the output.
bool ReadUntil(int descriptor, std::chrono::steady_clock::time_point deadline, std::string* output) {
  constexpr std::size_t kMost = 1 << 20;
  while (output->size() < kMost) {
    // Rounded up, so that a time-out always means that the deadline has passed.
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd ready = {descriptor, POLLIN, 0};
    if (left.count() <= 0 || poll(&ready, 1, static_cast<int>(left.count())) == 0) return false;
    char buffer[4096];
    const ssize_t bytes = read(descriptor, buffer, sizeof buffer);
    if (bytes == 0) return true;
    if (bytes > 0) output->append(buffer, static_cast<std::size_t>(bytes));
    if (bytes < 0 && errno != EINTR) return false;
  }
  return false;
}

}  // namespace

ChildResult ResultOf(int status) {
  ChildResult result;
  result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  result.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

ChildResult RunChild(const std::vector<std::string>& command, const std::vector<std::string>& environment,
                     int patience) {
  interrupts = 0;
  interrupts_to_kill = patience;
  SignalForwarding forwarding;
  SpawnOptions options;
  options.environment = &environment;
  SpawnResult child;
  {
    SignalsBlocked blocked;
    options.in_child = [&] {
      forwarding.Restore();  // first, so that a waiting signal ends the child and does not run its copy of the handler
      blocked.Restore();
    };
    child = Spawn(command, options);
    child_pid = child.pid;
  }
  if (child.error != 0) return {.start_error = child.error};
  ChildResult result = ResultOf(WaitFor(child.pid));
  result.interrupts = static_cast<int>(interrupts);
  result.pid = child.pid;
  return result;
}

void DieBySignal(int signal) {
  if (signal == 0) return;
  const rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  prctl(PR_SET_DUMPABLE, 0);  // programs that receive core files through a pipe ignore the limit
  struct sigaction usual = {};
  usual.sa_handler = SIG_DFL;
  sigaction(signal, &usual, nullptr);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  sigprocmask(SIG_UNBLOCK, &one, nullptr);
  raise(signal);
}

absl::StatusOr<std::string> CaptureOutput(const std::vector<std::string>& command, int seconds) {
  const absl::Status failed = absl::UnavailableError(command.front() + " does not run here");
  int output[2];
  if (pipe2(output, O_CLOEXEC) != 0) return failed;
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  SpawnOptions options;
  options.input = options.errors = null;
  options.output = output[1];
  options.own_group = true;
  options.dies_with_us = SIGKILL;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  const SpawnResult child = Spawn(command, options);
  close(output[1]);
  close(null);
  std::string text;
  const bool ended = child.error == 0 && ReadUntil(output[0], deadline, &text);
  close(output[0]);
  if (child.error != 0) return failed;
  if (!ended) kill(-child.pid, SIGKILL);
  const int status = WaitFor(child.pid);
  if (!ended && std::chrono::steady_clock::now() >= deadline) {
    return absl::DeadlineExceededError(command.front() + " did not answer in " + std::to_string(seconds) + " s");
  }
  if (!ended || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return failed;
  return text;
}

std::string FindOnPath(const std::string& program) {
  if (program.find('/') != std::string::npos) return access(program.c_str(), X_OK) == 0 ? program : "";
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "/usr/bin:/bin" : path;
  while (true) {
    const std::size_t colon = rest.find(':');
    const std::string candidate = std::string(rest.substr(0, colon)) + "/" + program;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    if (colon == std::string_view::npos) return "";
    rest.remove_prefix(colon + 1);
  }
}

}  // namespace memoir
