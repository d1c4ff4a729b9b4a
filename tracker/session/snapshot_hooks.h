// Makes the functions that a writer calls for snapshots for which no thread waits. Such a snapshot is requested by a
// signal or by the control file, or made at an out-of-memory error. The functions return the snapshots that the writer
// must write now, and print their results.
#ifndef TRACKER_SESSION_SNAPSHOT_HOOKS_H_
#define TRACKER_SESSION_SNAPSHOT_HOOKS_H_

#include <memory>

#include "tracker/session/recording_snapshots.h"
#include "tracker/writer/writer_options.h"

namespace memoir {

// Returns the hooks for a writer. The hooks keep `snapshots` alive.
SnapshotHooks HooksOf(const std::shared_ptr<RecordingSnapshots>& snapshots);

}  // namespace memoir

#endif  // TRACKER_SESSION_SNAPSHOT_HOOKS_H_
