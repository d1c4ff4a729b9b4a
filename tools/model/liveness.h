// Whether the process of a recording still runs. Looks at the process table of this host, changes nothing.
#ifndef TOOLS_MODEL_LIVENESS_H_
#define TOOLS_MODEL_LIVENESS_H_

#include <cstdint>

#include "memoir/v1/capture.pb.h"

namespace memoir {

enum class Liveness : std::uint8_t { kRuns, kGone, kNotKnown };

// Recorded on this host, since it was started. Containers may share both and not the process table.
bool IsOfThisHost(const v1::ProcessInfo& info);
bool HasPid(const v1::ProcessInfo& info);
// `start`: when the process began, in the kernel's ticks since boot; 0: not known. Not known: it is another host's, or
// of another boot, has no number, or cannot be seen.
Liveness LivenessOf(const v1::ProcessInfo& info, std::uint64_t start);

}  // namespace memoir

#endif  // TOOLS_MODEL_LIVENESS_H_
