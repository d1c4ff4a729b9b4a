// What the place that text goes to can show.
#ifndef TOOLS_VIEW_TERMINAL_TERMINAL_H_
#define TOOLS_VIEW_TERMINAL_TERMINAL_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace memoir {

struct Terminal {
  std::size_t width = 80;   // where it is no terminal and COLUMNS is not set
  bool color = false;       // only on a terminal, without NO_COLOR and with a TERM that is not dumb
  bool interactive = false;
};

Terminal DetectTerminal(int descriptor);

enum class Color { kBold, kDim, kRed, kYellow, kGreen };

// `text` in `color` where the terminal shows colours, else as it is. Pad before painting: escapes take no columns.
std::string Painted(const Terminal& terminal, Color color, std::string_view text);

}  // namespace memoir

#endif  // TOOLS_VIEW_TERMINAL_TERMINAL_H_
