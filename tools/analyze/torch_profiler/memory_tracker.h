// What torch.distributed._tools.memory_tracker.MemoryTracker would have recorded of a run: a row for each operator
// below autograd, named after the module that was entered last, with what the device's allocator then held; and its
// markers.
//
// In MemoryTracker's own terms, so some of it is not what an analysis would say: a module's name stays after it was
// left, and in the backward pass. AnalyzeOperatorCurve says it better. It needs a recording with --ops dispatch.
#ifndef TOOLS_ANALYZE_TORCH_PROFILER_MEMORY_TRACKER_H_
#define TOOLS_ANALYZE_TORCH_PROFILER_MEMORY_TRACKER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/options.h"
#include "tools/analyze/time/operator_curve.h"
#include "tools/model/capture.h"

namespace memoir {

struct MemoryTrackerRow {
  std::uint32_t module = 0;      // index in MemoryTrackerStats::modules
  std::uint32_t name = 0;        // index in MemoryTrackerStats::operators
  std::uint64_t occurrence = 0;  // of the operator's name, from 0
  DeviceBytes bytes;
};

struct MemoryTrackerStats {
  std::vector<std::string> modules;    // "layers.0.forward"; "" before the first
  std::vector<std::string> operators;  // "addmm.default"
  std::vector<MemoryTrackerRow> rows;
  std::vector<std::pair<std::string, std::uint64_t>> markers;  // name and how many rows came before; the last counts
  std::uint64_t num_alloc_retries = 0;                         // of the process so far, at the window's end
  // What was chosen where the caller left it open.
  ProcessId process;
  std::string device;
  std::string root;  // "" where none was seen
  // And what it was chosen among, itself left out.
  std::vector<std::string> other_roots;
  std::vector<std::string> other_devices;
  std::size_t other_processes = 0;  // that have such a device
  bool complete = true;             // false: events are missing, so rows may be, too
  ReplayReport report;
};
// "layers.0.forward.addmm.default_3"
std::string NameOf(const MemoryTrackerStats& stats, const MemoryTrackerRow& row);

struct MemoryTrackerOptions : Selection {
  // The module to watch: a root ("Net", "Net#2"), or a part of one ("Net.encoder.layers"). "": the root of which most
  // modules were called.
  std::string root;
  // What an object of the Python class memoir.MemoryTracker marked under this name, instead of modules as recorded and
  // the window. "": none.
  std::string tracker;
};

// NotFound: the window, rank, device, root or tracker does not occur, or no device has a caching allocator.
// FailedPrecondition: the operators recorded are not those below autograd.
absl::StatusOr<MemoryTrackerStats> AnalyzeMemoryTracker(const Capture& capture, const MemoryTrackerOptions& options);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_TORCH_PROFILER_MEMORY_TRACKER_H_
