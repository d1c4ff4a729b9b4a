// The capabilities of the terminal, or of another destination of the output.
#ifndef TOOLS_VIEW_TERMINAL_TERMINAL_H_
#define TOOLS_VIEW_TERMINAL_TERMINAL_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace memoir {

struct Terminal {
  std::size_t width = 80;  // 80 if the output is no terminal and COLUMNS is not set
  bool color = false;      // only on a terminal, without NO_COLOR, and if TERM is not "dumb"
  bool interactive = false;
};

Terminal DetectTerminal(int descriptor);

enum class Color { kBold, kDim, kRed, kYellow, kGreen };

// Returns `text` in `color` if the terminal shows colours, otherwise unchanged. Pad the text first, because escapes use
// no columns.
std::string Painted(const Terminal& terminal, Color color, std::string_view text);

}  // namespace memoir

#endif  // TOOLS_VIEW_TERMINAL_TERMINAL_H_
