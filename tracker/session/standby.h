// Processes that do not record yet, but will once they train: forked children of a recording process, launchers, the
// workers of pools. Until then they pay nothing: no ring, no thread, no file, and torch's ranges take their plain way.
//
//     a recording starts ──► its settings are kept for children
//     fork ──► the child stands by ──► its first backward pass, optimizer step, process group, memoir.step ──► records
//                                  └──► a data loader's worker leaves: it never trains
//
// Any thread. What fork copied is read only: the child takes no lock of its parent's but torch's, on its list of
// callbacks, and that with its first operator. No thread of Memoir's is in there at a fork
// (tracker/torch/callback_lock.h). One of the program's own might be, at its own first operator.
#ifndef TRACKER_SESSION_STANDBY_H_
#define TRACKER_SESSION_STANDBY_H_

#include <string>

#include "tracker/session/settings.h"

namespace memoir {

// In the recording process: what its forked children will record by, until ForgetChildren.
void KeepForChildren(const Settings& settings);
void ForgetChildren();

// Makes this process, which does not record, one that stands by.
void StandBy(const Settings& settings);
// In a forked child, at once: stands by, if its parent recorded or stood by itself.
void StandByAfterFork();
// Ends it: only a start of its own will record this process.
void LeaveStandby();

bool StandsBy();
// Starts the recording of a process that stands by; nothing, and true, in others. False: one line in `error`.
bool BeginFromStandby(std::string* error);
// The same for who has nobody to tell: torch's callbacks, and steps. What goes wrong is said.
void BeginFromStandbyOrSay() noexcept;

}  // namespace memoir

#endif  // TRACKER_SESSION_STANDBY_H_
