// Collects the same data as torch.distributed._tools.memory_tracker.MemoryTracker: markers, and a row for each operator
// below autograd. A row contains the name of the module that was entered last, and the bytes of the device's allocator.
//
// Follows MemoryTracker's definitions, which are less precise than AnalyzeOperatorCurve: a module's name stays after
// its exit, and in the backward pass. Needs a recording with --ops dispatch.
#ifndef TOOLS_ANALYZE_TORCH_PROFILER_MEMORY_TRACKER_H_
#define TOOLS_ANALYZE_TORCH_PROFILER_MEMORY_TRACKER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/analyze/time/operator_curve.h"
#include "tools/model/capture.h"

namespace memoir {

struct MemoryTrackerRow {
  std::uint32_t module = 0;      // index in MemoryTrackerStats::modules
  std::uint32_t name = 0;        // index in MemoryTrackerStats::operators
  std::uint64_t occurrence = 0;  // number among rows of the operator, from 0
  DeviceBytes bytes;
};

struct MemoryTrackerStats {
  std::vector<std::string> modules;    // "layers.0.forward"; "" for operators before the first module
  std::vector<std::string> operators;  // "addmm.default"
  std::vector<MemoryTrackerRow> rows;
  // Each marker's name, and the number of rows before it. If a marker occurs several times, only the last one is
  // stored.
  std::vector<std::pair<std::string, std::uint64_t>> markers;
  std::uint64_t num_alloc_retries = 0;  // retries of the process until the end of the window
  // The process, device and root: those that the caller selected, or those that the analysis chose.
  ProcessId process;
  std::string device;
  std::string root;  // empty: no root was seen
  // The roots, devices and processes that were not chosen.
  std::vector<std::string> other_roots;
  std::vector<std::string> other_devices;
  std::size_t other_processes = 0;  // other processes that have a device with a caching allocator
  bool complete = true;             // false: events are missing, so rows may be missing
  ReplayReport report;
};
// "layers.0.forward.addmm.default_3"
std::string NameOf(const MemoryTrackerStats& stats, const MemoryTrackerRow& row);

struct MemoryTrackerOptions : Selection {
  // The module to watch: a root ("Net", "Net#2"), or a module inside of one ("Net.encoder.layers"). Empty: the root
  // with the most called modules.
  std::string root;
  // The name of an object of the Python class memoir.MemoryTracker. The modules and the time that it marked replace the
  // recorded modules and the selected time. Empty: no such object.
  std::string tracker;
};

// Returns NotFound if the window, rank, device, root or tracker does not occur, or if no device has a caching
// allocator. Returns FailedPrecondition if the recorded operators are not those below autograd.
absl::StatusOr<MemoryTrackerStats> AnalyzeMemoryTracker(const Capture& capture, const MemoryTrackerOptions& options);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_TORCH_PROFILER_MEMORY_TRACKER_H_
