#include "tools/view/terminal/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace memoir {
namespace {

bool IsSet(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

std::size_t WidthFromEnvironment() {
  const char* columns = std::getenv("COLUMNS");
  std::size_t width = 0;
  if (columns != nullptr) std::from_chars(columns, columns + std::strlen(columns), width);
  return width;
}

}  // namespace

Terminal DetectTerminal(int descriptor) {
  // The widths between which a table is readable.
  constexpr std::size_t kNarrowest = 40;
  constexpr std::size_t kWidest = 400;
  Terminal terminal;
  terminal.interactive = isatty(descriptor) == 1;
  const char* term = std::getenv("TERM");
  terminal.color = terminal.interactive && !IsSet("NO_COLOR") && term != nullptr && std::string_view(term) != "dumb";
  winsize size = {};
  std::size_t width = WidthFromEnvironment();
  if (width == 0 && ioctl(descriptor, TIOCGWINSZ, &size) == 0) width = size.ws_col;
  if (width > 0) terminal.width = std::clamp(width, kNarrowest, kWidest);
  return terminal;
}

std::string Painted(const Terminal& terminal, Color color, std::string_view text) {
  if (!terminal.color || text.empty()) return std::string(text);
  std::string_view code = "1";
  switch (color) {
    case Color::kBold:
      code = "1";
      break;
    case Color::kDim:
      code = "2";
      break;
    case Color::kRed:
      code = "1;31";
      break;
    case Color::kYellow:
      code = "33";
      break;
    case Color::kGreen:
      code = "32";
      break;
  }
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

}  // namespace memoir
