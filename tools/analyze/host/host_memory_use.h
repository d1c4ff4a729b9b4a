// The host memory of each process over time, with findings: an out-of-memory kill, a limit that is near, growth, and
// free memory in malloc.
#ifndef TOOLS_ANALYZE_HOST_HOST_MEMORY_USE_H_
#define TOOLS_ANALYZE_HOST_HOST_MEMORY_USE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/host/host_instant.h"
#include "tools/analyze/pass/joint_replays.h"
#include "tools/analyze/pass/task.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/model/capture.h"

namespace memoir {

enum class HostFinding : std::uint8_t {
  kKilled,  // the out-of-memory killer of its cgroup killed the process
  // The machine's out-of-memory killer probably killed the process: the killer's count rose after the last sample, and
  // the process did not end properly.
  kKilledByMachine,
  kNearLimit,  // in at least one sample, less than a tenth of the limit was left
  kGrows,
  kMallocKeeps,  // at least a quarter of the resident bytes, and at least 512 MiB, are free memory in malloc
};
std::string_view ToString(HostFinding finding);  // "killed", "near_limit", ...

struct ProcessHostMemory {
  ProcessId process;
  std::optional<std::uint32_t> rank;   // empty: the process has no rank
  std::size_t readings = 0;            // number of samples
  HostInstant first, highest, last;    // first sample, sample with the most resident bytes, last sample
  HostInstant nearest;                 // the sample with the least headroom
  std::uint64_t tensors_at_end = 0;    // bytes of CPU tensors at the last event, which may be later than `last`
  std::vector<HostInstant> over_time;  // the samples, thinned out if there are many
  std::optional<HostGrowth> growth;
  std::vector<HostFinding> findings;  // most severe first
};

struct HostMemoryUse {
  ReplayReport report;
  std::vector<ProcessHostMemory> processes;  // processes with samples of host memory
  bool has_findings() const;
};
// Needs one replay.
Task<absl::StatusOr<HostMemoryUse>> AnalyzeHostMemory(JointReplays& replays, Selection selection);
absl::StatusOr<HostMemoryUse> AnalyzeHostMemory(const Capture& capture, const Selection& selection);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_HOST_HOST_MEMORY_USE_H_
