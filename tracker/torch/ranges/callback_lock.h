// A lock that Memoir holds while it changes torch's list of callbacks for ranges, and during each fork.
//
// torch changes the list under torch's own lock. If another thread held torch's lock at a fork, the lock would stay
// locked in the child for ever. A child that changes the list (tracker/session/standby.h) would then hang. So each fork
// waits until Memoir has finished its change. The program's own changes of the list do not take Memoir's lock, so a
// fork does not wait for them. Any thread; not recursive.
#ifndef TRACKER_TORCH_RANGES_CALLBACK_LOCK_H_
#define TRACKER_TORCH_RANGES_CALLBACK_LOCK_H_

#include "interpose/system/signal_blocker.h"

namespace memoir {

class CallbackLock {
 public:
  CallbackLock();
  ~CallbackLock();
  CallbackLock(const CallbackLock&) = delete;
  CallbackLock& operator=(const CallbackLock&) = delete;

 private:
  const SignalBlocker held_;  // no signal handler of the program runs while this thread holds the lock
};

}  // namespace memoir

#endif  // TRACKER_TORCH_RANGES_CALLBACK_LOCK_H_
