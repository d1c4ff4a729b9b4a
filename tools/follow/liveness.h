// Whether the process of a recording still runs. Looks at the process table of this host, changes nothing.
#ifndef TOOLS_FOLLOW_LIVENESS_H_
#define TOOLS_FOLLOW_LIVENESS_H_

#include <cstdint>

#include "memoir/v1/capture.pb.h"

namespace memoir {

enum class Liveness : std::uint8_t { kRuns, kGone, kNotKnown };  // not known: it is another host's, or of another boot

Liveness LivenessOf(const v1::ProcessInfo& info);

}  // namespace memoir

#endif  // TOOLS_FOLLOW_LIVENESS_H_
