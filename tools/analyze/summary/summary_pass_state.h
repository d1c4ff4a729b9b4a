// Sums and peaks that SummaryPass collects during a replay, besides the cells of rows (row_table.h).
#ifndef TOOLS_ANALYZE_SUMMARY_SUMMARY_PASS_STATE_H_
#define TOOLS_ANALYZE_SUMMARY_SUMMARY_PASS_STATE_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "memoir/v1/capture.pb.h"
#include "tools/analyze/summary/figures/row_table.h"
#include "tools/analyze/summary/summary.h"
#include "tools/model/ids.h"

namespace memoir {

struct CallCounts {
  std::uint64_t count = 0;
  std::uint64_t outermost = 0;
};

// Sums over the processes before the current one.
struct ProcessBegin {
  std::uint64_t events = 0;
  std::uint64_t operator_calls = 0;
  std::vector<CallCounts> calls;
};

struct EvictedDevice {
  v1::DeviceTotals totals;
  std::uint64_t peak_ns = 0;
  // The part of the sums that rows contain. Live bytes are not included, because the keyframe lists the blocks.
  SummaryColumns columns() const;
};

// Sums over lost events, from keyframes. A keyframe has the sums of all events before it. The first remaining keyframe
// covers the evicted parts. A keyframe after a later gap covers the gap, too, so the events that were replayed before
// the gap are subtracted from its sums.
struct EvictedProcess {
  ProcessId process;
  std::map<DeviceId, EvictedDevice> devices;  // selected devices
  std::map<NameId, EvictedSums> operators;    // invalid id: outside of operators
  bool operators_have_one_device = false;     // if false, the sums of operators cannot be assigned to a device
};

// Figures of one device inside the window. All but the last two need a caching allocator.
struct CachingNotes {
  bool caching = false;
  std::uint64_t peak_active = 0;
  Tick peak_active_tick = 0;
  std::uint64_t peak_reserved = 0;
  Tick peak_reserved_tick = 0;
  std::uint64_t active_at_end = 0;
  std::uint64_t reserved_at_end = 0;
  std::uint64_t active_at_peak = 0;
  std::uint64_t requested_at_peak = 0;  // requested bytes of active blocks
  std::uint64_t reserved_at_peak = 0;
  std::uint64_t retries = 0;  // in windows that are closed
  std::uint64_t ooms = 0;
  std::uint64_t retries_at_begin = 0;  // when the open window began
  std::uint64_t ooms_at_begin = 0;
  std::uint64_t compiled_allocations = 0;
  std::uint64_t compiled_bytes = 0;
};

// Bytes on a device outside of torch's caching allocator, inside the window.
struct OutsideNotes {
  std::uint64_t bytes = 0;  // maximum
  std::vector<HoldingRow> holders;
  std::optional<std::uint64_t> least_free;
  std::uint64_t total = 0;
};

// Counts that grow with each step; also their growth in one repeat group (RepeatedEvent).
struct StepCounts {
  std::uint64_t events = 0, compiled_allocations = 0, compiled_bytes = 0;
  std::map<DeviceId, std::uint64_t> unattributed;
  std::map<DeviceId, std::pair<std::uint64_t, std::uint64_t>> compiled;  // allocations and bytes
  std::map<std::pair<ProcessId, NameId>, EvictedSums> apart;
  std::array<std::uint64_t, kStepSources> steps{};
  TableChange table;

  bool operator==(const StepCounts&) const = default;
};

// The operator and range at a device's peak so far.
struct PeakNotes {
  NameId operator_name;
  NameId user_name;
  ModuleId module;  // module that was entered inside of the user range; invalid: none
  Phase phase = Phase::kOther;
  StackId callstack;                                             // stack of the peak's line
  std::array<std::optional<std::uint64_t>, kStepSources> steps;  // newest step of each source
  std::uint64_t of_all = 0;  // bytes live in all blocks, if the selection leaves some out
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_SUMMARY_PASS_STATE_H_
