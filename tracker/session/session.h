// One recording of one process: opens the ring, starts the writer, installs the hooks, and ends them in the right order.
//
//     Start: clock ─► ring ─► writer ─► hooks ─► flag on        Stop: flag off ─► hooks still running leave ─► writer drains ─► ring closed
//
// Hooks cannot be taken out of torch again, so they stay and look at the flag. Start and Stop belong to one thread; the rest to any.
// In a forked child every function does nothing: the writer's thread is not there.
#ifndef TRACKER_SESSION_SESSION_H_
#define TRACKER_SESSION_SESSION_H_

#include <string>

#include "tracker/session/settings.h"
#include "tracker/writer/writer.h"

namespace memoir {

// On failure false and one line in `error`; nothing is recorded then, and the program goes on.
bool StartSession(const Settings& settings, std::string* error);
void StopSession(EndReason reason);
void FlushSession();
// The capture's folder, "" before the first start.
const char* SessionOutput();

}  // namespace memoir

#endif  // TRACKER_SESSION_SESSION_H_
