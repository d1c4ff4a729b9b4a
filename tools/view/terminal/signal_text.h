// Names of signals.
#ifndef TOOLS_VIEW_TERMINAL_SIGNAL_TEXT_H_
#define TOOLS_VIEW_TERMINAL_SIGNAL_TEXT_H_

#include <cstdint>
#include <string>

namespace memoir {

// Returns "signal 9 (SIGKILL)"; "signal 40" for a signal without a name.
std::string SignalText(std::uint32_t signal);

}  // namespace memoir

#endif  // TOOLS_VIEW_TERMINAL_SIGNAL_TEXT_H_
