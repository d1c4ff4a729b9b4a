// Provides the calling thread's ring slot for torch's hooks. The first call on a thread also prepares the thread for
// torch and for the hooks. Any thread.
#ifndef TRACKER_TORCH_RANGES_TORCH_THREAD_H_
#define TRACKER_TORCH_RANGES_TORCH_THREAD_H_

#include "interpose/ring/ring.h"

namespace memoir {

// Called once on each thread. Stores the number that torch has given the thread in `slot`, and includes the dispatch
// key of Memoir's fallback (dispatch_key.h).
void JoinTorchThread(ThreadSlot* slot);

// Returns the calling thread's slot; nullptr if the thread has no slot (RingThread).
inline ThreadSlot* TorchThread() {
  ThreadSlot* slot = RingThread();
  if (slot != nullptr && slot->torch_id.load(std::memory_order_relaxed) == 0) [[unlikely]]
    JoinTorchThread(slot);
  return slot;
}

}  // namespace memoir

#endif  // TRACKER_TORCH_RANGES_TORCH_THREAD_H_
