// A lock that Memoir holds while it changes torch's list of callbacks, and during each fork.
//
// torch changes the list under torch's own lock. If another thread of Memoir held torch's lock at a fork, the lock
// would stay locked in the child for ever, and the child would hang when it changes the list
// (tracker/session/standby.h). So a fork waits for Memoir's lock. Changes by the program itself are not covered. Any
// thread; not recursive.
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
  const SignalBlocker held_;
};

}  // namespace memoir

#endif  // TRACKER_TORCH_RANGES_CALLBACK_LOCK_H_
