// Determines whether the process of a recording still runs, from this host's process table.
#ifndef TOOLS_MODEL_PARTS_PROCESS_LIVENESS_H_
#define TOOLS_MODEL_PARTS_PROCESS_LIVENESS_H_

#include <cstdint>
#include <string>

#include "memoir/v1/capture.pb.h"

namespace memoir {

enum class ProcessLiveness : std::uint8_t { kRuns, kGone, kNotKnown };

// Empty if the name is unknown.
std::string NameOfThisHost();
// Returns true if the process was recorded on this host since the host's last boot. Containers with separate process
// tables may have the same host name and boot id.
bool WasRecordedOnThisHost(const v1::ProcessInfo& info);
bool HasPid(const v1::ProcessInfo& info);
// Returns whether the process runs. `start` is the start of the process in the kernel's ticks since boot; 0: unknown.
// kNotKnown if `info` has no process id, if the process was not recorded on this host since the host's last boot, or if
// the calling process may not see it.
ProcessLiveness LivenessOf(const v1::ProcessInfo& info, std::uint64_t start);

}  // namespace memoir

#endif  // TOOLS_MODEL_PARTS_PROCESS_LIVENESS_H_
