// The dispatch key of Memoir's fallback (dispatch_fallback.h), and the threads that include it.
//
// The key belongs to torch, and no kernel uses it in torch 2.11 and 2.15. Only one library can register a fallback for
// it. A thread calls the fallback when the key is among the thread's included keys. The guards of compiled graphs
// compare these keys. So Memoir includes the key once on each thread and never removes it.
#ifndef TRACKER_TORCH_RANGES_DISPATCH_KEY_H_
#define TRACKER_TORCH_RANGES_DISPATCH_KEY_H_

#include <c10/core/DispatchKey.h>

namespace memoir {

inline constexpr c10::DispatchKey kFallbackKey = c10::DispatchKey::Fake;

// Includes the key on the calling thread, on each thread that starts later, and on other threads at their next range or
// allocation. Called by one thread.
void ShowOperatorsOfAllThreads();

// Includes the key on the calling thread, if ShowOperatorsOfAllThreads() was ever called. Cheap if the thread has
// already included the key.
void ShowOperatorsOfThisThread();

}  // namespace memoir

#endif  // TRACKER_TORCH_RANGES_DISPATCH_KEY_H_
