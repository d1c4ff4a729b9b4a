// What the pass behind AnalyzeSummary notes beside rows and devices, until it makes a summary of it.
#ifndef TOOLS_ANALYZE_SUMMARY_SUMMARY_NOTES_H_
#define TOOLS_ANALYZE_SUMMARY_SUMMARY_NOTES_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "memoir/v1/capture.pb.h"
#include "tools/analyze/summary/row_table.h"
#include "tools/analyze/summary/summary.h"
#include "tools/model/ids.h"

namespace memoir {

struct Calls {
  std::uint64_t count = 0;
  std::uint64_t outermost = 0;
};

// Sums over the processes before the one in hand.
struct ProcessBegin {
  std::uint64_t events = 0;
  std::uint64_t operator_calls = 0;
  std::vector<Calls> calls;
};

struct FoldedDevice {
  v1::DeviceTotals totals;
  std::uint64_t peak_ns = 0;
  // What rows have of it. Live bytes come with the keyframe's blocks.
  Columns columns() const;
};

// The sums that keyframes have of parts that are gone: of the first one left, and of those behind a gap less what the
// events before them show.
struct FoldedProcess {
  ProcessId process;
  std::map<DeviceId, FoldedDevice> devices;  // the selected ones
  std::map<NameId, Folded> operators;        // an invalid id: outside of any
  bool operators_have_one_device = false;    // else their sums belong to no device in particular
};

// What happened on a device, inside the window; but for the last two, of one with a caching allocator.
struct DeviceMoments {
  bool caching = false;
  std::uint64_t peak_active = 0;
  Tick peak_active_tick = 0;
  std::uint64_t peak_reserved = 0;
  Tick peak_reserved_tick = 0;
  std::uint64_t active_at_end = 0;
  std::uint64_t reserved_at_end = 0;
  std::uint64_t active_at_peak = 0;
  std::uint64_t requested_at_peak = 0;  // of active bytes
  std::uint64_t reserved_at_peak = 0;
  std::uint64_t retries = 0;  // in windows that are closed
  std::uint64_t ooms = 0;
  std::uint64_t retries_at_begin = 0;  // of the window that is open
  std::uint64_t ooms_at_begin = 0;
  std::uint64_t compiled_allocations = 0;
  std::uint64_t compiled_bytes = 0;
};

// What lay on a device outside of torch's caching allocator, inside the window.
struct OutsideMoment {
  std::uint64_t bytes = 0;  // the most
  std::vector<Holder> holders;
  std::optional<std::uint64_t> least_free;
  std::uint64_t total = 0;
};

// Counts that grow with each step, and what one cycle of steps adds to them (RepeatedEvent).
struct StepCounts {
  std::uint64_t events = 0, compiled_allocations = 0, compiled_bytes = 0;
  std::map<DeviceId, std::uint64_t> unattributed;
  std::map<DeviceId, std::pair<std::uint64_t, std::uint64_t>> compiled;  // allocations and bytes
  std::map<std::pair<ProcessId, NameId>, Folded> apart;
  std::array<std::uint64_t, kStepSources> steps{};
  TableChange table;

  bool operator==(const StepCounts&) const = default;
};

// What ran when a device's peak so far was reached.
struct PeakMoment {
  NameId operator_name;
  NameId user_name;
  StackId callstack;                                             // whose line it is
  std::array<std::optional<std::uint64_t>, kStepSources> steps;  // the newest of each source
  std::uint64_t of_all = 0;  // live in all blocks, where the selection leaves some out
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_SUMMARY_NOTES_H_
