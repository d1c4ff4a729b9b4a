// Whether a dead process of this host has left its ring file behind: then its newest events are not in the capture yet.
#ifndef TOOLS_MODEL_PENDING_RING_H_
#define TOOLS_MODEL_PENDING_RING_H_

#include <string>

#include "memoir/v1/capture.pb.h"

namespace memoir {

// Path of the ring file, or "". Looks at the file system and the process table, changes nothing.
std::string FindPendingRing(const v1::ProcessInfo& info);

}  // namespace memoir

#endif  // TOOLS_MODEL_PENDING_RING_H_
