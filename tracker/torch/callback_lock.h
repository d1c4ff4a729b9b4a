// Held around each change of torch's list of callbacks that is ours, and by whoever forks.
//
// torch changes that list under a lock of its own, which a child would inherit locked for ever if another thread of
// ours were in there at the fork; and a child changes the list at once (tracker/session/standby.h). So forks wait for
// us. What the program itself does with the list at a fork is beyond this. Any thread; not inside each other.
#ifndef TRACKER_TORCH_CALLBACK_LOCK_H_
#define TRACKER_TORCH_CALLBACK_LOCK_H_

namespace memoir {

class CallbackLock {
 public:
  CallbackLock();
  ~CallbackLock();
  CallbackLock(const CallbackLock&) = delete;
  CallbackLock& operator=(const CallbackLock&) = delete;
};

}  // namespace memoir

#endif  // TRACKER_TORCH_CALLBACK_LOCK_H_
