// Which call launched what ran on a device: the one with the same correlation. Of one process.
//
//   call ─┐
//         ├─► whichever is seen first waits for the other; a call goes on waiting: a graph's runs are many
//   run ──┘
//
// Runs are told some time after the call, hardly ever before. Both wait in bounded numbers: of the oldest the call was
// not recorded, or all runs are told.
#ifndef TOOLS_ANALYZE_CALLS_LAUNCHED_RUNS_H_
#define TOOLS_ANALYZE_CALLS_LAUNCHED_RUNS_H_

#include <cstdint>
#include <deque>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/model/event.h"

namespace memoir {

struct LaunchingCall {
  bool counts = false;  // it is one of the window's
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
inline DeviceRun RunOf(const KernelRunEvent& event) {
  return {event.kind, event.kernel, event.ns, event.device, event.stream, event.begin, event.bytes};
}

class LaunchedRuns {
 public:
  static constexpr std::size_t kMostCalls = 1u << 20, kMostRuns = 1u << 16;

  // Returns the runs that waited for it.
  std::vector<DeviceRun> Call(std::uint32_t correlation, const LaunchingCall& call);
  // The call; nullptr: it is not known, and the run waits.
  const LaunchingCall* Run(std::uint32_t correlation, const DeviceRun& run);
  // Those that nobody came for, until now or at all: called at a process's end, after which nothing waits.
  std::vector<DeviceRun> TakeOthers();

 private:
  absl::flat_hash_map<std::uint32_t, LaunchingCall> calls_;
  std::deque<std::uint32_t> call_order_;
  absl::flat_hash_map<std::uint32_t, std::vector<DeviceRun>> waiting_;
  std::deque<std::uint32_t> run_order_;
  std::vector<DeviceRun> others_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CALLS_LAUNCHED_RUNS_H_
