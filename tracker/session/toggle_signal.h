// A signal that switches recording off and on in turn. One for the process; a handler of the program's is never
// displaced.
#ifndef TRACKER_SESSION_TOGGLE_SIGNAL_H_
#define TRACKER_SESSION_TOGGLE_SIGNAL_H_

#include <cstdint>
#include <optional>
#include <string>

namespace memoir {

// "USR2", "SIGUSR2" or "12". Nothing for what is no signal, or none that a program may use for this (SIGKILL, SIGSEGV).
std::optional<int> ParseSignal(const std::string& name);

// False, with one line in `error`, where the program has a handler of its own or ignores the signal. In a forked child
// the signal does what it does by default.
bool InstallToggleSignal(int signal, std::string* error);
// Puts back what was there, unless the program has put something else there since.
void RemoveToggleSignal();
// How often it came since the last call. Any thread.
std::uint32_t TakeToggles();

}  // namespace memoir

#endif  // TRACKER_SESSION_TOGGLE_SIGNAL_H_
