// Determines whether a capture is a snapshot, and the trigger of the snapshot. A snapshot is the state of a process at
// one instant, which the recorder of the process wrote (memoir.snapshot()).
//
// A snapshot begins with a keyframe and has no operators. It contains no events from before the keyframe, only their
// sums.
#ifndef TOOLS_MODEL_SNAPSHOT_TRIGGER_H_
#define TOOLS_MODEL_SNAPSHOT_TRIGGER_H_

#include <string>

#include "tools/model/capture.h"

namespace memoir {

// Returns the trigger of the snapshot: "program", "signal", "control file", "oom", "exception" or "exit". Empty if the
// process belongs to a recording and not to a snapshot.
std::string SnapshotTrigger(const ProcessSummary& process);
// True if all processes of the capture are snapshots.
bool IsSnapshot(const Capture& capture);

}  // namespace memoir

#endif  // TOOLS_MODEL_SNAPSHOT_TRIGGER_H_
