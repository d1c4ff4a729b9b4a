// A text table: one flexible column of names, and right-aligned numbers. On a wide terminal, a bar after each row shows
// the column "share".
#ifndef TOOLS_VIEW_TERMINAL_TEXT_TABLE_H_
#define TOOLS_VIEW_TERMINAL_TEXT_TABLE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "tools/view/terminal/terminal.h"

namespace memoir {

class TextTable {
 public:
  // The first column contains names (left-aligned, shortened to fit), all others numbers. Columns are dropped from the
  // right until the table fits the terminal with readable names.
  explicit TextTable(std::vector<std::string> titles) : titles_(std::move(titles)) {}

  // For names whose beginning matters most, such as lines: cuts them at their end, unless this makes two names equal.
  void CutNamesAtEnd() { cut_at_end_ = true; }
  void AddRow(std::vector<std::string> cells) { rows_.push_back({std::move(cells), false}); }
  // Adds a bold row below a rule.
  void AddTotal(std::vector<std::string> cells) { rows_.push_back({std::move(cells), true}); }
  bool empty() const { return rows_.empty(); }

  // Returns lines that begin with `indent` spaces and end with a newline.
  std::string Render(const Terminal& terminal, std::size_t indent) const;

 private:
  struct Row {
    std::vector<std::string> cells;
    bool total = false;
  };
  std::size_t ColumnWidth(std::size_t column) const;
  std::vector<std::string> Bars(std::size_t room) const;

  std::vector<std::string> titles_;
  std::vector<Row> rows_;
  bool cut_at_end_ = false;
};

}  // namespace memoir

#endif  // TOOLS_VIEW_TERMINAL_TEXT_TABLE_H_
