#include "tools/view/terminal/text_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

#include "tools/view/terminal/shortened_names.h"
#include "tools/view/terminal/terminal_text.h"

namespace memoir {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kShortestName = 20;

std::string RenderCells(const std::string& name, const std::vector<std::string>& cells,
                        const std::vector<std::size_t>& widths) {
  std::string line = PaddedRight(name, widths[0]);
  for (std::size_t i = 1; i < widths.size(); ++i) {
    line += std::string(kGap, ' ') + PaddedLeft(i < cells.size() ? cells[i] : "", widths[i]);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::size_t Total(const std::vector<std::size_t>& widths) {
  std::size_t total = 0;
  for (std::size_t width : widths) total += width + kGap;
  return total - kGap;
}

// Returns 22.1 for "22.1%"; 0 for other texts.
double Percent(const std::string& cell) {
  double percent = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), percent);
  return error == std::errc() && end != cell.data() + cell.size() && *end == '%' ? percent : 0;
}

// Draws a bar whose length is in eighths of a column.
std::string Bar(double eighths) {
  constexpr std::array<const char*, 8> kParts = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto count = static_cast<std::size_t>(std::lround(eighths));
  std::string bar;
  for (std::size_t i = 0; i < count / 8; ++i) bar += "█";
  return bar + kParts[count % 8];
}

}  // namespace

// Returns the bars by row. The largest share fills the room. The bar of a total is empty. All bars are empty if the
// table has no column "share", or if there is too little room.
std::vector<std::string> TextTable::Bars(std::size_t room) const {
  constexpr std::size_t kLongest = 24, kShortest = 8;
  std::vector<std::string> bars(rows_.size());
  const auto share = static_cast<std::size_t>(std::ranges::find(titles_, "share") - titles_.begin());
  if (share == titles_.size() || room < kShortest) return bars;
  std::vector<double> percents;
  for (const Row& row : rows_)
    percents.push_back(row.total || share >= row.cells.size() ? 0 : Percent(row.cells[share]));
  const double largest = percents.empty() ? 0 : *std::ranges::max_element(percents);
  if (largest <= 0) return bars;
  const auto eighths = static_cast<double>(8 * std::min(room, kLongest));
  for (std::size_t i = 0; i < rows_.size(); ++i) bars[i] = Bar(percents[i] / largest * eighths);
  return bars;
}

std::size_t TextTable::ColumnWidth(std::size_t column) const {
  std::size_t width = DisplayWidth(titles_[column]);
  for (const Row& row : rows_) {
    if (column < row.cells.size()) width = std::max(width, DisplayWidth(row.cells[column]));
  }
  return width;
}

std::string TextTable::Render(const Terminal& terminal, std::size_t indent) const {
  const std::size_t room = terminal.width > indent ? terminal.width - indent : 1;
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < titles_.size(); ++i) widths.push_back(ColumnWidth(i));
  const std::size_t wanted_name = std::min(widths[0], kShortestName);
  while (widths.size() > 2 && Total(widths) - widths[0] + wanted_name > room) widths.pop_back();
  const std::size_t numbers = Total(widths) - widths[0];
  widths[0] = std::min(widths[0], room > numbers ? room - numbers : 1);

  std::vector<std::string> names;
  for (const Row& row : rows_) names.push_back(row.cells[0]);
  names = cut_at_end_ ? CutApart(names, widths[0]) : ShortenedApart(names, widths[0]);

  const std::size_t used = Total(widths) + kGap;
  const std::vector<std::string> bars = Bars(terminal.interactive && room > used ? room - used : 0);

  const std::string margin(indent, ' ');
  std::string text =
      margin + Painted(terminal, Color::kDim, RenderCells(Shortened(titles_[0], widths[0]), titles_, widths)) + "\n";
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    const std::string line = RenderCells(names[i], row.cells, widths);
    text += margin + (row.total ? Painted(terminal, Color::kBold, line) : line);
    if (!bars[i].empty())
      text += std::string(used - DisplayWidth(line), ' ') + Painted(terminal, Color::kGreen, bars[i]);
    text += '\n';
  }
  return text;
}

}  // namespace memoir
