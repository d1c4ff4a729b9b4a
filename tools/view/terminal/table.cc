#include "tools/view/terminal/table.h"

#include <algorithm>

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

}  // namespace

std::size_t Table::ColumnWidth(std::size_t column) const {
  std::size_t width = DisplayWidth(titles_[column]);
  for (const Row& row : rows_) {
    if (column < row.cells.size()) width = std::max(width, DisplayWidth(row.cells[column]));
  }
  return width;
}

std::string Table::Render(const Terminal& terminal, std::size_t indent) const {
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

  const std::string margin(indent, ' ');
  std::string text =
      margin + Painted(terminal, Color::kDim, RenderCells(Shortened(titles_[0], widths[0]), titles_, widths)) + "\n";
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    const std::string line = RenderCells(names[i], row.cells, widths);
    text += margin + (row.total ? Painted(terminal, Color::kBold, line) : line) + "\n";
  }
  return text;
}

}  // namespace memoir
