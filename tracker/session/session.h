// Starts and stops the recording of this process: the ring, the writer and the hooks, in the right order.
//
//     Start: read the clock ─► open the ring ─► start the writer ─► install the hooks ─► set the flag
//     Stop:  clear the flag ─► wait for running hooks ─► the writer empties the ring ─► close the ring
//
// Hooks cannot be removed from torch, so they stay, and do nothing while the flag (RecordingEnabled) is off. The rank
// is determined at the start, when torch.distributed has set it, and at the end. The capture stores the newest rank.
// Any thread may call the functions of this file. In a forked child, stop and flush do nothing, because the writer's
// thread does not exist there. A start makes a new session for the child.
#ifndef TRACKER_SESSION_SESSION_H_
#define TRACKER_SESSION_SESSION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tracker/session/settings.h"
#include "tracker/writer/writer.h"

namespace memoir {

// Starts a recording. On failure returns false with one line in `error`, or throws; nothing is recorded then.
bool StartSession(const Settings& settings, std::string* error);
// Ends the recording. False, with one line in `error`, if it could not be ended, or records could not be written. If it
// throws, the recording has ended, but records may be missing. `why`: the text of memoir_uncaught; usually empty.
bool StopSession(EndReason reason, const std::string& why, std::string* error);
// Sets this process's rank, and the number of ranks, in torch.distributed's default process group.
void SetRank(std::uint32_t rank, std::uint32_t world_size);
// Sets the place of this rank in each parallel dimension of the job. Replaces earlier places.
void SetCoordinates(std::vector<Coordinate> coordinates);
// Waits until all events recorded before the call are in the capture or counted as lost, unless the writer hangs.
void FlushSession();
// Writes a snapshot into `folder`. If `folder` is empty, uses the recording's next folder for snapshots, and sets
// `folder` to it. Other threads continue. On failure returns false, with one line in `error`.
bool SnapshotSession(std::string* folder, std::string* error);

// Call it when torch has made its CUDA allocators. Prints one line if their blocks cannot be recorded one by one.
void NoteCudaReady();
// Returns a flag of the running recording's settings, such as &Settings::modules; false if nothing is recorded.
bool SessionRecords(bool Settings::* what);
// Returns the capture's folder; "" before the first start.
std::string SessionOutput();

}  // namespace memoir

#endif  // TRACKER_SESSION_SESSION_H_
