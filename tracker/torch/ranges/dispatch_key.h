// The dispatch key of Memoir's fallback (dispatch_fallback.h), and functions that include the key on threads.
//
// torch defines the key, but no kernel of torch 2.11 or 2.15 uses it. Only one library can register a fallback for the
// key. torch calls the fallback on a thread only if the key is among the thread's included keys. The guards of graphs
// from torch.compile compare a thread's included keys, and torch compiles a graph again if they differ. So Memoir
// includes the key once on each thread and never removes it.
#ifndef TRACKER_TORCH_RANGES_DISPATCH_KEY_H_
#define TRACKER_TORCH_RANGES_DISPATCH_KEY_H_

#include <c10/core/DispatchKey.h>

namespace memoir {

inline constexpr c10::DispatchKey kFallbackKey = c10::DispatchKey::Fake;

// Includes the key on the calling thread and on each thread that starts later. A thread that already runs includes the
// key at its next range or allocation. Call it on one thread at a time.
void ShowOperatorsOfAllThreads();

// Includes the key on the calling thread, if ShowOperatorsOfAllThreads() was ever called. Cheap if the thread has
// already included the key.
void ShowOperatorsOfThisThread();

}  // namespace memoir

#endif  // TRACKER_TORCH_RANGES_DISPATCH_KEY_H_
