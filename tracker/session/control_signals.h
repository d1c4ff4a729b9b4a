// Signals by which a shell controls a recording: one that switches it off and on in turn, one that asks for a snapshot.
// One of each for the process; a handler of the program's is never displaced.
#ifndef TRACKER_SESSION_CONTROL_SIGNALS_H_
#define TRACKER_SESSION_CONTROL_SIGNALS_H_

#include <cstdint>
#include <optional>
#include <string>

namespace memoir {

enum class ControlSignal : std::uint8_t { kToggle, kSnapshot };
inline constexpr std::size_t kControlSignals = 2;

// "USR2", "SIGUSR2" or "12". Nothing for what is no signal, or none that a program may use for this (SIGKILL, SIGSEGV).
std::optional<int> ParseSignal(const std::string& name);

// False, with one line in `error`, where the program has a handler of its own or ignores the signal. In a forked child
// the signal does what it does by default.
bool InstallControlSignal(ControlSignal what, int signal, std::string* error);
// Puts back what was there, unless the program has put something else there since.
void RemoveControlSignals();
// How often it came since the last call. Any thread.
std::uint32_t TakeSignals(ControlSignal what);

}  // namespace memoir

#endif  // TRACKER_SESSION_CONTROL_SIGNALS_H_
