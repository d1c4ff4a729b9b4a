// What makes snapshots without a thread that waits for them: the recording's controls (a signal, a file), and
// out-of-memory errors.
#ifndef TRACKER_SESSION_SNAPSHOT_HOOKS_H_
#define TRACKER_SESSION_SNAPSHOT_HOOKS_H_

#include <memory>

#include "tracker/session/snapshots.h"
#include "tracker/writer/writer_options.h"

namespace memoir {

// For a writer; they keep `snapshots` alive.
SnapshotHooks HooksOf(const std::shared_ptr<Snapshots>& snapshots);

}  // namespace memoir

#endif  // TRACKER_SESSION_SNAPSHOT_HOOKS_H_
