// Finds the row of a group, by the group or by the name of the row. A row is made when it is first needed.
#ifndef TOOLS_ANALYZE_SUMMARY_ROWS_GROUP_ROWS_H_
#define TOOLS_ANALYZE_SUMMARY_ROWS_GROUP_ROWS_H_

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tools/analyze/summary/pass/shared_summary_state.h"

namespace memoir {

class GroupRows {
 public:
  // The rows of devices must exist.
  explicit GroupRows(SharedSummaryState& shared) : shared_(shared) {}

  // Returns the row of a group. `before`: true for the row of blocks that were live before the window. The reference is
  // valid until the next call of RowOf.
  SummaryRow& RowOf(Group group, bool before = false);
  // Returns the row with this name. `key` distinguishes rows with the same name. Empty: only the name counts.
  SummaryRow& RowOf(SummaryRow::Kind kind, std::string name, std::string key = "");

 private:
  SummaryRow::Kind KindOf(Group group, bool before) const;
  void FillFacts(Group group, SummaryRow& row) const;

  SharedSummaryState& shared_;
  std::map<std::pair<SummaryRow::Kind, std::string>, std::size_t> row_of_label_;
  std::vector<std::size_t> row_of_cell_;  // by CellNumber
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_ROWS_GROUP_ROWS_H_
