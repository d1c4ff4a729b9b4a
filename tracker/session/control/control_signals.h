// Signals with which a shell controls a recording: one switches recording off, or on again if it is off; the other
// requests a snapshot. A process has at most one signal for each purpose. Handlers of the program are never replaced.
#ifndef TRACKER_SESSION_CONTROL_CONTROL_SIGNALS_H_
#define TRACKER_SESSION_CONTROL_CONTROL_SIGNALS_H_

#include <cstdint>
#include <optional>
#include <string>

namespace memoir {

enum class ControlSignal : std::uint8_t { kToggle, kSnapshot };
inline constexpr std::size_t kControlSignals = 2;

// Parses "USR2", "SIGUSR2" or "12". nullopt if `name` is not a signal, or if the signal cannot control a recording
// (SIGKILL, SIGSEGV).
std::optional<int> ParseSignal(const std::string& name);

// Installs the handler. False, with one line in `error`, if the program handles or ignores the signal, or if the signal
// is in use for the other purpose. In a forked child the signal has its default action.
bool InstallControlSignal(ControlSignal what, int signal, std::string* error);
// Restores the default actions. A handler that the program has installed since InstallControlSignal stays.
void RemoveControlSignals();
// Returns how often the signal has arrived since the last call. Any thread.
std::uint32_t TakeSignals(ControlSignal what);

}  // namespace memoir

#endif  // TRACKER_SESSION_CONTROL_CONTROL_SIGNALS_H_
