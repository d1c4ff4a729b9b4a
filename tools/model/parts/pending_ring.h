// Finds the ring file of a dead process on this host. The ring contains the newest events of the process, which are not
// in the capture yet.
#ifndef TOOLS_MODEL_PARTS_PENDING_RING_H_
#define TOOLS_MODEL_PARTS_PENDING_RING_H_

#include <string>

#include "memoir/v1/capture.pb.h"

namespace memoir {

// Returns the path of the ring file. Empty if there is no such file. Reads the file system and the process table, and
// changes nothing.
std::string FindPendingRing(const v1::ProcessInfo& info);

}  // namespace memoir

#endif  // TOOLS_MODEL_PARTS_PENDING_RING_H_
