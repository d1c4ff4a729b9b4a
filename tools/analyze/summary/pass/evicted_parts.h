// Computes sums over events that the capture no longer contains, from the sums in keyframes.
//
// A keyframe contains the sums of all events before it. The first remaining keyframe covers the evicted parts. A
// keyframe after a later gap also covers the gap, so the events that were replayed before the gap are subtracted from
// its sums.
#ifndef TOOLS_ANALYZE_SUMMARY_PASS_EVICTED_PARTS_H_
#define TOOLS_ANALYZE_SUMMARY_PASS_EVICTED_PARTS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "memoir/v1/capture.pb.h"
#include "tools/analyze/summary/figures/summary_columns.h"
#include "tools/analyze/summary/pass/block_counts.h"
#include "tools/analyze/summary/pass/call_counts.h"
#include "tools/analyze/summary/pass/shared_summary_state.h"
#include "tools/analyze/summary/pass/window_events.h"
#include "tools/analyze/summary/pass/window_times.h"
#include "tools/model/event/event.h"
#include "tools/model/event/ids.h"

namespace memoir {

struct EvictedDevice {
  v1::DeviceTotals totals;
  std::uint64_t peak_ns = 0;
  // Returns the sums that are columns of a row: allocations and deallocations, and their bytes. Live bytes are not
  // included, because the keyframe lists the live blocks.
  SummaryColumns columns() const;
};

struct EvictedProcess {
  ProcessId process;
  std::map<DeviceId, EvictedDevice> devices;  // selected devices
  std::map<NameId, EvictedSums> operators;    // invalid id: outside of operators
  bool operators_have_one_device = false;     // if false, the sums of operators cannot be assigned to a device
};

class EvictedParts {
 public:
  EvictedParts(SharedSummaryState& shared, WindowEvents& events, WindowTimes& times, CallCounts& calls,
               BlockCounts& blocks)
      : shared_(shared), events_(events), times_(times), calls_(calls), blocks_(blocks) {}

  // Adds the sums of a keyframe at the start of a process, or after evicted parts. Ignores other keyframes.
  void AddKeyframe(const KeyframeEvent& event);

  const std::vector<EvictedProcess>& processes() const { return processes_; }
  // Returns the sums of a device. nullptr if no keyframe has such sums.
  const EvictedDevice* DeviceOf(DeviceId id) const;

 private:
  EvictedProcess& ProcessOf(ProcessId process);
  void TakeDevices(const KeyframeEvent& event, EvictedProcess& evicted);
  void TakeOperators(const KeyframeEvent& event, EvictedProcess& evicted);
  // Returns the sums over the events of one device that were replayed so far.
  SummaryColumns ShownOf(DeviceId id);
  // Returns the sums over the events of one operator that were replayed so far, for all selected devices. If rows are
  // not operators, only the bytes that were allocated outside of operators are known; all other sums are 0.
  EvictedSums ShownOf(NameId name, ProcessId process);
  // Does the same if rows are operators.
  EvictedSums ShownByOperator(NameId name, ProcessId process);

  SharedSummaryState& shared_;
  WindowEvents& events_;
  WindowTimes& times_;
  CallCounts& calls_;
  BlockCounts& blocks_;
  std::vector<EvictedProcess> processes_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_PASS_EVICTED_PARTS_H_
