// The host's memory of each process over time, and what there is to say of it: a killer that came, one that is near,
// growth, and what malloc keeps.
#ifndef TOOLS_ANALYZE_HOST_HOST_MEMORY_H_
#define TOOLS_ANALYZE_HOST_HOST_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/host/host_moment.h"
#include "tools/analyze/pass/options.h"
#include "tools/model/capture.h"

namespace memoir {

enum class HostFinding : std::uint8_t {
  kKilled,      // the process was killed by the out-of-memory killer of its cgroup
  kKilledHere,  // likely by one of the machine: one has killed something, and the process has not ended
  kNearLimit,   // less than a tenth was left
  kGrows,
  kMallocKeeps,  // a quarter of what is resident, and 512 MiB at least, is free in malloc
};
std::string_view ToString(HostFinding finding);  // "killed", "near_limit", ...

struct ProcessHost {
  ProcessId process;
  std::optional<std::uint32_t> rank;  // empty: of no rank
  std::size_t readings = 0;
  HostMoment first, highest, last;    // by what is resident
  HostMoment nearest;                 // with the least headroom
  std::uint64_t tensors_at_end = 0;   // exact, of the last event: behind `last`, where the process was killed
  std::vector<HostMoment> over_time;  // of many readings some
  std::optional<HostGrowth> growth;
  std::vector<HostFinding> findings;  // the worst first
};

struct HostMemory {
  ReplayReport report;
  std::vector<ProcessHost> processes;  // those of which there are readings
  bool found() const;
};
absl::StatusOr<HostMemory> AnalyzeHost(const Capture& capture, const Selection& selection);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_HOST_HOST_MEMORY_H_
