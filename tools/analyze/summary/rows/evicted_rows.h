// Adds the sums of evicted parts to the rows.
//
// A keyframe has sums of devices and of operators. If a grouping needs other sums (by thread, shape or range), or if
// the sums of operators cover several devices, the row "(in evicted parts)" has the sums. So every column sums to the
// devices' totals.
#ifndef TOOLS_ANALYZE_SUMMARY_ROWS_EVICTED_ROWS_H_
#define TOOLS_ANALYZE_SUMMARY_ROWS_EVICTED_ROWS_H_

#include <map>

#include "tools/analyze/summary/pass/evicted_parts.h"
#include "tools/analyze/summary/pass/shared_summary_state.h"
#include "tools/analyze/summary/rows/device_rows.h"
#include "tools/analyze/summary/rows/group_rows.h"

namespace memoir {

class EvictedRows {
 public:
  EvictedRows(SharedSummaryState& shared, const DeviceRows& devices, GroupRows& groups)
      : shared_(shared), devices_(devices), groups_(groups) {}

  void AddProcess(const EvictedProcess& evicted);

 private:
  // Sums that no row contains yet.
  struct Rest {
    std::map<DeviceId, SummaryColumns> by_device;
    SummaryColumns of_all;
  };
  Rest AddToDevices(const EvictedProcess& evicted);
  void AddToOperators(const EvictedProcess& evicted, Rest& rest);

  SharedSummaryState& shared_;
  const DeviceRows& devices_;
  GroupRows& groups_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_ROWS_EVICTED_ROWS_H_
