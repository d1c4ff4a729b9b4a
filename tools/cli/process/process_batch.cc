#include "tools/cli/process/process_batch.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <map>
#include <thread>

#include "tools/cli/process/spawn.h"

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

// Starts a command. Returns the process number, or 0 after a failure, which is stored in `result`. Each command has its
// own process group, so that the processes that a launcher starts are ended with it.
pid_t Start(const BatchCommand& command, ChildResult& result) {
  const int file = open(command.output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) {
    result.start_error = errno;
    return 0;
  }
  const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  SpawnOptions options;
  options.environment = &command.environment;
  options.input = null;
  options.output = options.errors = file;
  options.own_group = true;
  options.dies_with_us = SIGTERM;
  const SpawnResult child = Spawn(command.command, options);
  result.start_error = child.error;
  close(file);
  close(null);
  return child.pid;
}

using Running = std::map<pid_t, std::size_t>;

// Removes ended processes from `running`.
void Collect(Running& running, std::vector<ChildResult>& results) {
  for (auto at = running.begin(); at != running.end();) {
    int status = 0;
    if (waitpid(at->first, &status, WNOHANG) != at->first) {
      ++at;
      continue;
    }
    results[at->second] = ResultOf(status);
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
  for (const auto& [pid, index] : running) results[index] = ResultOf(WaitFor(pid));
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
