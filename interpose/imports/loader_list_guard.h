// Guards the reading of the loader's list of objects. dl_iterate_phdr takes a lock of the loader. If the process forked
// meanwhile, the child would inherit this lock in the locked state. So one thread reads at a time, and a fork waits
// until that thread has finished.
//
// This code needs no library except libc. It may be used on any thread, but not in a signal handler.
#ifndef INTERPOSE_IMPORTS_LOADER_LIST_GUARD_H_
#define INTERPOSE_IMPORTS_LOADER_LIST_GUARD_H_

#include "interpose/system/signal_blocker.h"

namespace memoir {

// Makes forks wait for guards. Call it before the first guard, on one thread at a time; further calls do nothing.
void RegisterLoaderForkWait();

class LoaderListGuard {
 public:
  // kWaits: waits until no other thread has the guard. kGivesUp: waits for at most 5 ms; for callers that may hold any
  // lock, including locks of the loader and of torch's allocator.
  enum class Patience { kWaits, kGivesUp };
  explicit LoaderListGuard(Patience patience);
  ~LoaderListGuard();
  LoaderListGuard(const LoaderListGuard&) = delete;
  LoaderListGuard& operator=(const LoaderListGuard&) = delete;

  // False if another thread still had the guard after the wait. The caller must then not read the loader's list.
  bool has_turn() const { return has_turn_; }

 private:
  const SignalBlocker held_;
  bool has_turn_;
};

}  // namespace memoir

#endif  // INTERPOSE_IMPORTS_LOADER_LIST_GUARD_H_
