// Manages processes that stand by: they do not record yet, but start to record when they train. Such processes are
// forked children of a recording process, launchers, and workers of pools. Until they record, they have no ring, no
// thread and no file, and torch calls Memoir only at autograd nodes and user ranges.
//
//     a recording starts ──► its settings are kept for children
//     fork ──► the child stands by ──► its first backward pass, optimizer step, process group, memoir.step ──► records
//                                  └──► the worker of a data loader ends its standby, because it never trains
//
// Any thread. A forked child only reads the memory that the fork copied. The child takes only one lock that a thread of
// its parent may have held: torch's lock on the list of callbacks, in the child's first operator. No thread of Memoir
// holds this lock at a fork (tracker/torch/ranges/callback_lock.h). A thread of the program holds it at a fork only if
// the thread is running its first operator.
#ifndef TRACKER_SESSION_STANDBY_H_
#define TRACKER_SESSION_STANDBY_H_

#include <string>

#include "tracker/session/settings.h"

namespace memoir {

// Called in the recording process: keeps `settings` for its forked children, until ForgetChildren.
void KeepForChildren(const Settings& settings);
void ForgetChildren();

// Makes this process, which does not record, stand by.
void StandBy(const Settings& settings);
// Called in a forked child, directly after the fork. The child stands by if its parent recorded or stood by.
void StandByAfterFork();
// Ends the standby. Afterwards only an explicit start records this process.
void LeaveStandby();

bool IsStandingBy();
// Starts the recording of a process that stands by. Returns true, and does nothing, if the process does not stand by.
// False, with one line in `error`, if the recording cannot start.
bool BeginFromStandby(std::string* error);
// Like BeginFromStandby, for callers that cannot handle errors: torch's callbacks and memoir_step. Prints errors.
void BeginFromStandbyOrPrint() noexcept;

}  // namespace memoir

#endif  // TRACKER_SESSION_STANDBY_H_
