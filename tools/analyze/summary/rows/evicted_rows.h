// Adds the sums of evicted parts to the rows.
//
// A keyframe contains sums for devices and for operators. If a grouping needs other sums (by thread, shape or range),
// the row "(in evicted parts)" contains the sums. If the sums of operators cover several devices, this row also
// contains the sums of each device. So in every column, the rows sum to the devices' totals. In a grouping by rank, the
// rank's own row contains the sums instead.
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
