// Captures that are snapshots: the state of a process at one instant, as its recorder wrote it (memoir.snapshot()).
//
// Such a capture begins with a keyframe and has no operators; what came before is in its sums alone.
#ifndef TOOLS_MODEL_SNAPSHOTS_H_
#define TOOLS_MODEL_SNAPSHOTS_H_

#include <string>

#include "tools/model/capture.h"

namespace memoir {

// Who asked for it: "program", "signal", "control file", "oom", "exception", "exit"; "" of a recording.
std::string SnapshotAskedBy(const ProcessSummary& process);
// Whether all of its processes are.
bool IsSnapshot(const Capture& capture);

}  // namespace memoir

#endif  // TOOLS_MODEL_SNAPSHOTS_H_
