// Makes the functions that a writer calls for snapshots for which no thread waits. They return the snapshots to write,
// at requests by a signal or by the control file and at out-of-memory errors, and print the results.
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
