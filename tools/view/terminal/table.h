// A text table: one flexible column of names, numbers right-aligned beside it. On a terminal with room for it a bar
// behind each row shows the column named "share".
#ifndef TOOLS_VIEW_TERMINAL_TABLE_H_
#define TOOLS_VIEW_TERMINAL_TABLE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "tools/view/terminal/terminal.h"

namespace memoir {

class Table {
 public:
  // The first column holds names (left-aligned, shortened to fit), all others numbers. Columns are dropped from the
  // right while the table does not fit the terminal with a readable name.
  explicit Table(std::vector<std::string> titles) : titles_(std::move(titles)) {}

  // Names whose beginning says most, as that of a line does: they are cut at their end, unless that made two alike.
  void CutNamesAtEnd() { cut_at_end_ = true; }
  void AddRow(std::vector<std::string> cells) { rows_.push_back({std::move(cells), false}); }
  // Below a rule, bold.
  void AddTotal(std::vector<std::string> cells) { rows_.push_back({std::move(cells), true}); }
  bool empty() const { return rows_.empty(); }

  // Lines, each ended by a newline and begun by `indent` spaces.
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

#endif  // TOOLS_VIEW_TERMINAL_TABLE_H_
