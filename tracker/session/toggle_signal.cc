#include "tracker/session/toggle_signal.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstring>

namespace memoir {
namespace {

constinit std::atomic<std::uint32_t> toggles{0};
constinit std::atomic<pid_t> owner{0};
constinit int installed = 0;  // 0: none

// The writer looks at the count within 100 ms: nothing else is safe in here.
void OnSignal(int signal) {
  if (owner.load(std::memory_order_relaxed) == getpid()) {
    toggles.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  sigaction(signal, &usual, nullptr);
  raise(signal);
}

// What a handler that returns would turn into an endless loop, or what the kernel never hands over.
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

bool InstallToggleSignal(int signal, std::string* error) {
  struct sigaction there {};
  if (sigaction(signal, nullptr, &there) != 0) {
    *error = std::string("signal ") + std::to_string(signal) + " cannot be used: " + std::strerror(errno);
    return false;
  }
  const bool ours = (there.sa_flags & SA_SIGINFO) == 0 && there.sa_handler == OnSignal;
  const bool free = (there.sa_flags & SA_SIGINFO) == 0 && there.sa_handler == SIG_DFL;
  if (!ours && !free) {
    *error = std::string("the program uses signal ") + strsignal(signal) +
             " itself, so it does not switch recording; name another one (--toggle-signal), or use the control file";
    return false;
  }
  struct sigaction action {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  toggles.store(0, std::memory_order_relaxed);
  owner.store(getpid(), std::memory_order_relaxed);
  installed = sigaction(signal, &action, nullptr) == 0 ? signal : 0;
  return true;
}

void RemoveToggleSignal() {
  if (installed == 0 || owner.load(std::memory_order_relaxed) != getpid()) return;
  struct sigaction there {};
  if (sigaction(installed, nullptr, &there) == 0 && there.sa_handler == OnSignal) {
    struct sigaction usual {};
    usual.sa_handler = SIG_DFL;
    sigaction(installed, &usual, nullptr);
  }
  installed = 0;
}

std::uint32_t TakeToggles() { return toggles.exchange(0, std::memory_order_relaxed); }

}  // namespace memoir
