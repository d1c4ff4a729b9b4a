// A lock that is held for microseconds, by code that may not wait in the kernel. A thread that finds the lock taken
// yields its processor, because the thread that holds the lock may be waiting for a processor. Signals are blocked
// while the lock is held. The lock may be used on any thread.
//
// In a forked child the lock may be held by a thread that does not exist in the child. So the child stores false into
// the lock before it uses the lock.
#ifndef INTERPOSE_SYSTEM_SPIN_LOCK_H_
#define INTERPOSE_SYSTEM_SPIN_LOCK_H_

#include <sched.h>

#include <atomic>

#include "interpose/system/signal_blocker.h"

namespace memoir {

class SpinLock {
 public:
  explicit SpinLock(std::atomic<bool>& locked) : locked_(locked) {
    while (locked_.exchange(true, std::memory_order_acquire)) sched_yield();
  }
  ~SpinLock() { locked_.store(false, std::memory_order_release); }
  SpinLock(const SpinLock&) = delete;
  SpinLock& operator=(const SpinLock&) = delete;

 private:
  const SignalBlocker held_;
  std::atomic<bool>& locked_;
};

}  // namespace memoir

#endif  // INTERPOSE_SYSTEM_SPIN_LOCK_H_
