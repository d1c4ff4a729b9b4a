#include "tools/cli/process/process_batch.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <map>
#include <thread>

namespace memoir {
namespace {

constexpr auto kTick = std::chrono::milliseconds(50);
constexpr auto kPatience = std::chrono::seconds(5);
constexpr std::array kEnding = {SIGINT, SIGTERM, SIGHUP};

volatile sig_atomic_t interrupted_by = 0;
void Interrupt(int signal) { interrupted_by = signal; }

class InterruptsNoted {
 public:
  InterruptsNoted() {
    interrupted_by = 0;
    struct sigaction action = {};
    action.sa_handler = &Interrupt;
    for (std::size_t i = 0; i < kEnding.size(); ++i) {
      sigaction(kEnding[i], nullptr, &old_[i]);
      if (old_[i].sa_handler != SIG_IGN) sigaction(kEnding[i], &action, nullptr);
    }
  }
  ~InterruptsNoted() {
    for (std::size_t i = 0; i < kEnding.size(); ++i) sigaction(kEnding[i], &old_[i], nullptr);
  }
  InterruptsNoted(const InterruptsNoted&) = delete;
  InterruptsNoted& operator=(const InterruptsNoted&) = delete;

 private:
  std::array<struct sigaction, kEnding.size()> old_;
};

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& text : strings) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// A group of its own, so that what a launcher started can be ended with it; ^C then reaches us alone, and we end them.
[[noreturn]] void Execute(const std::vector<char*>& argv, const std::vector<char*>& environment, const char* output,
                          int report) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  const int null = open("/dev/null", O_RDONLY);
  const int file = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (null >= 0) dup2(null, STDIN_FILENO);
  if (file >= 0) dup2(file, STDOUT_FILENO);
  if (file >= 0) dup2(file, STDERR_FILENO);
  if (file >= 0) execvpe(argv[0], argv.data(), environment.data());
  const int error = errno;
  [[maybe_unused]] const auto written = write(report, &error, sizeof error);
  _exit(127);
}

// Its number, or 0 after a failure, which is in `result`.
pid_t Start(const BatchCommand& command, ChildResult& result) {
  const auto argv = Pointers(command.command);
  const auto environment = Pointers(command.environment);
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) {
    result.start_error = errno;
    return 0;
  }
  const pid_t pid = fork();
  if (pid == 0) Execute(argv, environment, command.output.c_str(), report[1]);
  if (pid < 0) result.start_error = errno;
  if (pid > 0) setpgid(pid, pid);  // whichever of the two comes first
  close(report[1]);
  while (pid > 0 && read(report[0], &result.start_error, sizeof result.start_error) < 0 && errno == EINTR) {
  }
  close(report[0]);
  if (pid > 0 && result.start_error != 0) waitpid(pid, nullptr, 0);
  return pid > 0 && result.start_error == 0 ? pid : 0;
}

ChildResult Ended(int status) {
  ChildResult result;
  result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  result.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

using Running = std::map<pid_t, std::size_t>;

// Takes those that have ended out of `running`.
void Collect(Running& running, std::vector<ChildResult>& results) {
  for (auto at = running.begin(); at != running.end();) {
    int status = 0;
    if (waitpid(at->first, &status, WNOHANG) != at->first) {
      ++at;
      continue;
    }
    results[at->second] = Ended(status);
    at = running.erase(at);
  }
}

void EndAll(Running& running, std::vector<ChildResult>& results) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  for (const auto& [pid, index] : running) kill(-pid, SIGTERM);
  while (!running.empty() && std::chrono::steady_clock::now() < until) {
    Collect(running, results);
    std::this_thread::sleep_for(kTick);
  }
  for (const auto& [pid, index] : running) kill(-pid, SIGKILL);
  for (const auto& [pid, index] : running) {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    results[index] = Ended(status);
  }
}

}  // namespace

BatchResult RunBatch(const std::vector<BatchCommand>& commands, std::size_t at_once,
                     const std::function<void(std::size_t ended, std::size_t running)>& progress) {
  const InterruptsNoted noted;
  BatchResult batch;
  batch.results.resize(commands.size());
  Running running;
  std::size_t started = 0;
  while (interrupted_by == 0 && (started < commands.size() || !running.empty())) {
    while (started < commands.size() && running.size() < std::max<std::size_t>(at_once, 1)) {
      const pid_t pid = Start(commands[started], batch.results[started]);
      if (pid != 0) running[pid] = started;
      ++started;
    }
    progress(started - running.size(), running.size());
    std::this_thread::sleep_for(kTick);
    Collect(running, batch.results);
  }
  if (interrupted_by != 0) EndAll(running, batch.results);
  batch.interrupted = interrupted_by;
  return batch;
}

}  // namespace memoir
