// Locks that do not prevent the program from ending. Any thread.
#ifndef TRACKER_SESSION_CONTROL_SHORT_LOCK_H_
#define TRACKER_SESSION_CONTROL_SHORT_LOCK_H_

#include <cstdint>
#include <ctime>
#include <mutex>

#include "interpose/system/signal_blocker.h"
#include "interpose/system/tick.h"

namespace memoir {

// A lock that is held briefly. While it is held, signals are blocked, so that a signal handler of the program cannot
// leave this code with a jump and leave the lock taken.
class ShortLock {
 public:
  explicit ShortLock(std::mutex& mutex) : lock_(mutex) {}

 private:
  const SignalBlocker held_;  // destroyed after lock_, so signals are blocked until the lock is released
  const std::lock_guard<std::mutex> lock_;
};

inline constexpr std::uint64_t kMaxLockWaitNs = 5'000'000'000;

// Waits for `mutex` for at most kMaxLockWaitNs. The returned lock owns `mutex`, unless another thread held it for all
// of this time. That thread possibly never releases the mutex.
template <class Mutex>
std::unique_lock<Mutex> LockWithin(Mutex& mutex) {
  const std::uint64_t begin = MonotonicNs();
  const timespec pause{.tv_sec = 0, .tv_nsec = 1'000'000};
  std::unique_lock<Mutex> lock(mutex, std::try_to_lock);
  while (!lock.owns_lock() && MonotonicNs() - begin < kMaxLockWaitNs) {
    nanosleep(&pause, nullptr);
    static_cast<void>(lock.try_lock());
  }
  return lock;
}

}  // namespace memoir

#endif  // TRACKER_SESSION_CONTROL_SHORT_LOCK_H_
