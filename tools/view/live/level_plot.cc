#include "tools/view/live/level_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

constexpr std::size_t kEighths = 8;
constexpr std::array<std::string_view, kEighths + 1> kBlocks = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::string_view kReserved = "░";
constexpr std::size_t kLabel = 11;  // columns

// Returns the height of `bytes` in eighths of a row, if `most` is `rows` rows high.
std::size_t Height(std::uint64_t bytes, std::uint64_t most, std::size_t rows) {
  const double share = static_cast<double>(bytes) / static_cast<double>(most);
  return static_cast<std::size_t>(std::lround(share * static_cast<double>(rows * kEighths)));
}

std::string_view Cell(const LiveLevel& level, std::uint64_t most, std::size_t row, std::size_t rows) {
  const std::size_t below = (rows - 1 - row) * kEighths;
  const std::size_t allocated = Height(level.allocated, most, rows);
  if (allocated > below) return kBlocks[std::min(allocated - below, kEighths)];
  return Height(level.reserved, most, rows) >= below + kEighths / 2 && level.reserved > 0 ? kReserved : kBlocks[0];
}

}  // namespace

std::vector<std::string> LevelPlot(const std::vector<LiveLevel>& levels, std::uint64_t capacity, std::size_t columns,
                                   std::size_t rows) {
  if (columns <= kLabel + 2 || rows == 0) return {};
  const std::size_t count = std::min(levels.size(), columns - kLabel - 1);
  const std::size_t first = levels.size() - count;
  std::uint64_t most = 1;
  for (std::size_t i = first; i < levels.size(); ++i) most = std::max({most, levels[i].allocated, levels[i].reserved});
  if (most >= capacity / 4) most = std::max(most, capacity);
  std::vector<std::string> lines;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::string label = row == 0 ? FormatBytes(most) : row + 1 == rows ? "0" : "";
    std::string line = PaddedLeft(label, kLabel - 1) + " │";
    for (std::size_t i = first; i < levels.size(); ++i) line += Cell(levels[i], most, row, rows);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace memoir
