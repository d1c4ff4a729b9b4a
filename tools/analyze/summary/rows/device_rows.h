// Makes the rows of devices after the replay.
#ifndef TOOLS_ANALYZE_SUMMARY_ROWS_DEVICE_ROWS_H_
#define TOOLS_ANALYZE_SUMMARY_ROWS_DEVICE_ROWS_H_

#include <cstddef>
#include <vector>

#include "tools/analyze/summary/pass/summary_handlers.h"

namespace memoir {

class DeviceRows {
 public:
  explicit DeviceRows(SummaryHandlers& handlers) : handlers_(handlers), shared_(handlers.shared) {}

  // Adds a row for each device that occurred. SummaryRows adds the sums of allocations later.
  void AddRows();

  const std::vector<DeviceId>& ids() const { return ids_; }  // in the order of Summary::devices
  std::size_t ColumnOf(DeviceId id) const;                   // index of the device in Summary::devices

 private:
  DeviceRow RowOf(DeviceId id, const DeviceTable& table);

  SummaryHandlers& handlers_;
  SharedSummaryState& shared_;
  std::vector<DeviceId> ids_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_ROWS_DEVICE_ROWS_H_
