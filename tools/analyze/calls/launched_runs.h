// Matches each run on a device (a kernel, a copy or a fill) with the call that launched the run. CUPTI assigns the same
// correlation id to both. Serves one process at a time.
//
//   call ─┐
//         ├─► whichever comes first waits for the other; a call stays, because the launch of a graph has many runs
//   run ──┘
//
// A run is almost always reported after its call. The numbers of stored calls and runs are bounded; beyond the bound
// the oldest are dropped. A dropped run counts as a run without a recorded call. Later runs are no longer matched with
// a dropped call.
#ifndef TOOLS_ANALYZE_CALLS_LAUNCHED_RUNS_H_
#define TOOLS_ANALYZE_CALLS_LAUNCHED_RUNS_H_

#include <cstdint>
#include <deque>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/model/event/event.h"

namespace memoir {

struct LaunchingCall {
  bool counts = false;  // true if the call lies in the selection
  std::string_view call;
  v1::CopyKind copy_kind = v1::COPY_KIND_UNKNOWN;
  NameId kernel;
  NameId leaf;  // innermost range
};

struct DeviceRun {
  v1::RunKind kind = v1::RUN_KIND_UNKNOWN;
  NameId kernel;
  std::uint64_t ns = 0;
  DeviceId device;
  std::uint32_t stream = 0;
  Tick begin = 0;
  std::uint64_t bytes = 0;
};
inline DeviceRun DeviceRunOf(const KernelRunEvent& event) {
  return {event.kind, event.kernel, event.ns, event.device, event.stream, event.begin, event.bytes};
}

class LaunchedRuns {
 public:
  static constexpr std::size_t kMostCalls = 1u << 20, kMostRuns = 1u << 16;

  // Returns the runs that waited for this call.
  std::vector<DeviceRun> AddCall(std::uint32_t correlation, const LaunchingCall& call);
  // Returns the call of `run`. If the call is unknown, the run waits for it, and the result is nullptr.
  const LaunchingCall* AddRun(std::uint32_t correlation, const DeviceRun& run);
  // Returns the runs whose call is unknown, and clears everything. Call it at the end of a process.
  std::vector<DeviceRun> TakeRunsWithoutCall();

 private:
  absl::flat_hash_map<std::uint32_t, LaunchingCall> calls_;             // by correlation id
  std::deque<std::uint32_t> call_order_;                                // keys of calls_, oldest first
  absl::flat_hash_map<std::uint32_t, std::vector<DeviceRun>> waiting_;  // runs without a call, by correlation id
  std::deque<std::uint32_t> run_order_;                                 // correlation ids of waiting runs, oldest first
  std::vector<DeviceRun> others_;                                       // dropped runs
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CALLS_LAUNCHED_RUNS_H_
