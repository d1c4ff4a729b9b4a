#include "tracker/session/control/control_signals.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <charconv>
#include <cstring>

namespace memoir {
namespace {

struct ControlledSignal {
  std::atomic<int> signal{0};  // 0: no handler is installed
  std::atomic<std::uint32_t> count{0};
};
constinit std::array<ControlledSignal, kControlSignals> controlled;  // indexed by ControlSignal
constinit std::atomic<pid_t> owner{0};

ControlledSignal& Of(ControlSignal what) { return controlled[static_cast<std::size_t>(what)]; }

// Only counts the signal, because other work is not safe in a signal handler. The writer's thread reads the counts
// within 100 ms. In a forked child, restores the signal's default action and raises the signal again.
void OnSignal(int signal) {
  if (owner.load(std::memory_order_relaxed) == getpid()) {
    for (ControlledSignal& of : controlled) {
      if (of.signal.load(std::memory_order_relaxed) == signal) of.count.fetch_add(1, std::memory_order_relaxed);
    }
    return;
  }
  struct sigaction usual{};
  usual.sa_handler = SIG_DFL;
  sigaction(signal, &usual, nullptr);
  raise(signal);
}

// Returns false for signals that no handler can receive (SIGKILL, SIGSTOP), for signals that report a fault of the
// program, and for SIGCHLD, which arrives whenever a child process ends.
bool MayBeUsed(int signal) {
  for (const int not_for_this : {SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGCHLD}) {
    if (signal == not_for_this) return false;
  }
  return true;
}

struct Name {
  const char* text;
  int number;
};
constexpr Name kNames[] = {{"HUP", SIGHUP},   {"INT", SIGINT},   {"QUIT", SIGQUIT},   {"TERM", SIGTERM},
                           {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"WINCH", SIGWINCH}, {"URG", SIGURG},
                           {"CONT", SIGCONT}, {"PROF", SIGPROF}, {"ALRM", SIGALRM},   {"IO", SIGIO}};

}  // namespace

std::optional<int> ParseSignal(const std::string& name) {
  const std::string bare = name.starts_with("SIG") ? name.substr(3) : name;
  for (const Name& known : kNames) {
    if (bare == known.text) return known.number;
  }
  int number = 0;
  const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (failed != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  if (number < 1 || number > SIGRTMAX || !MayBeUsed(number)) return std::nullopt;
  return number;
}

bool InstallControlSignal(ControlSignal what, int signal, std::string* error) {
  const bool toggles = what == ControlSignal::kToggle;
  struct sigaction there{};
  if (sigaction(signal, nullptr, &there) != 0) {
    *error = std::string("signal ") + std::to_string(signal) + " cannot be used: " + std::strerror(errno);
    return false;
  }
  for (const ControlledSignal& other : controlled) {
    if (&other == &Of(what) || other.signal.load(std::memory_order_relaxed) != signal) continue;
    *error = std::string("signal ") + strsignal(signal) + " switches recording already; name another one for snapshots";
    return false;
  }
  const bool ours = (there.sa_flags & SA_SIGINFO) == 0 && there.sa_handler == OnSignal;
  const bool free = (there.sa_flags & SA_SIGINFO) == 0 && there.sa_handler == SIG_DFL;
  if (!ours && !free) {
    *error = std::string("the program uses signal ") + strsignal(signal) + " itself, so it does not " +
             (toggles ? "switch recording" : "make snapshots") + "; name another one (" +
             (toggles ? "--toggle-signal" : "--snapshot-signal") + "), or use the control file";
    return false;
  }
  struct sigaction action{};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  Of(what).count.store(0, std::memory_order_relaxed);
  Of(what).signal.store(signal, std::memory_order_relaxed);
  owner.store(getpid(), std::memory_order_relaxed);
  if (sigaction(signal, &action, nullptr) == 0) return true;
  *error = std::string("signal ") + std::to_string(signal) + " cannot be used: " + std::strerror(errno);
  Of(what).signal.store(0, std::memory_order_relaxed);
  return false;
}

void RemoveControlSignals() {
  if (owner.load(std::memory_order_relaxed) != getpid()) return;
  for (ControlledSignal& of : controlled) {
    const int signal = of.signal.exchange(0, std::memory_order_relaxed);
    struct sigaction there{};
    if (signal == 0 || sigaction(signal, nullptr, &there) != 0 || there.sa_handler != OnSignal) continue;
    struct sigaction usual{};
    usual.sa_handler = SIG_DFL;
    sigaction(signal, &usual, nullptr);
  }
}

std::uint32_t TakeSignals(ControlSignal what) { return Of(what).count.exchange(0, std::memory_order_relaxed); }

}  // namespace memoir
