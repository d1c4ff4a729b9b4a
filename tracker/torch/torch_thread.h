// The calling thread's ring slot, as torch's hooks take it: at the first look, what torch and the hooks need on each
// thread is done. Any thread.
#ifndef TRACKER_TORCH_TORCH_THREAD_H_
#define TRACKER_TORCH_TORCH_THREAD_H_

#include "interpose/ring.h"

namespace memoir {

// Cold: torch's number of the thread, and its part of the dispatcher fallback.
void JoinTorchThread(ThreadSlot* slot);

// nullptr when the thread has no slot (RingThread).
inline ThreadSlot* TorchThread() {
  ThreadSlot* slot = RingThread();
  if (slot != nullptr && slot->torch_id.load(std::memory_order_relaxed) == 0) [[unlikely]]
    JoinTorchThread(slot);
  return slot;
}

}  // namespace memoir

#endif  // TRACKER_TORCH_TORCH_THREAD_H_
