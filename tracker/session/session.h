// One recording of one process: opens the ring, starts the writer, installs the hooks, and ends them in the right
// order.
//
//     Start: clock ─► ring ─► writer ─► hooks ─► flag on
//     Stop:  flag off ─► hooks still running leave ─► writer drains ─► ring closed
//
// The rank is found anew when torch.distributed knows it and at the end, and goes into the capture then.
//
// Hooks cannot be taken out of torch again, so they stay and look at the flag. Any thread. In a forked child stop and
// flush do nothing, because the writer's thread is not there; a start makes a session of the child's own.
#ifndef TRACKER_SESSION_SESSION_H_
#define TRACKER_SESSION_SESSION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tracker/session/settings.h"
#include "tracker/writer/writer.h"

namespace memoir {

// On failure false and one line in `error`, or an exception; nothing is recorded then, and the program goes on.
bool StartSession(const Settings& settings, std::string* error);
// False, with one line in `error`, when something recorded could not be written. Where it throws, that is not known;
// the recording has ended all the same. `why`: of the program's end, one line; mostly empty.
bool StopSession(EndReason reason, const std::string& why, std::string* error);
// torch.distributed's default process group is there: this process's rank and the number of ranks.
void NameRank(std::uint32_t rank, std::uint32_t world_size);
// Where this rank stands among the job's, in the place of what was said of it before.
void PlaceRank(std::vector<Coordinate> coordinates);
void FlushSession();
// A snapshot into `folder`, or where that is empty into the recording's next one, which it then says. Other threads go
// on. False, with one line in `error`.
bool SnapshotSession(std::string* folder, std::string* error);

// torch has made its CUDA allocators. One line where they cannot be recorded.
void SeeCuda();
// What the recording that is running asks for, such as &Settings::modules; false: none runs.
bool SessionRecords(bool Settings::*what);
// The capture's folder, "" before the first start.
std::string SessionOutput();

}  // namespace memoir

#endif  // TRACKER_SESSION_SESSION_H_
