// Makes the rows of a summary after the replay: rows of devices, then rows of groups from the cells of the table, then
// calls, evicted parts, and ranks that allocated nothing.
#ifndef TOOLS_ANALYZE_SUMMARY_ROWS_SUMMARY_ROWS_H_
#define TOOLS_ANALYZE_SUMMARY_ROWS_SUMMARY_ROWS_H_

#include <cstddef>

#include "tools/analyze/summary/pass/summary_handlers.h"
#include "tools/analyze/summary/rows/device_rows.h"
#include "tools/analyze/summary/rows/group_rows.h"

namespace memoir {

class SummaryRows {
 public:
  explicit SummaryRows(SummaryHandlers& handlers)
      : handlers_(handlers), shared_(handlers.shared), devices_(handlers), groups_(handlers.shared) {}

  void AddRows();

 private:
  void AddCells(const DeviceTable& table, std::size_t column);
  void AddColumns(CellNumber cell, std::size_t column, const SummaryColumns& columns);
  void AddCalls();
  void AddEvicted();
  void AddQuietRanks();
  void SortRows();

  SummaryHandlers& handlers_;
  SharedSummaryState& shared_;
  DeviceRows devices_;
  GroupRows groups_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_ROWS_SUMMARY_ROWS_H_
