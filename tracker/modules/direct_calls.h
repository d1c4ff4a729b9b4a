// Module calls that bypass `__call__`, as in model.forward(x). torch does not report such a call. So Memoir reads the
// interpreter's frames of a thread when an operator or a module call begins on it.
//
// A frame belongs to such a call if its function is named forward, its first argument is a known module, and its caller
// is not torch's Module._call_impl, which Module.__call__ uses. The recorded call begins with the first operator or
// module call inside of the frame. It ends when an operator or a module call begins and the frame no longer exists.
//
// Any thread.
#ifndef TRACKER_MODULES_DIRECT_CALLS_H_
#define TRACKER_MODULES_DIRECT_CALLS_H_

#include "tracker/modules/python_frames.h"

namespace memoir {

// Records direct calls that have begun or ended since the last look on this thread. Call it while ranges are recorded.
void LookForDirectCalls(const memoir_python_frames& frames);
inline void FollowDirectCalls() {
  if (const auto* frames = python_frames.load(std::memory_order_acquire)) LookForDirectCalls(*frames);
}

// Called when a call through __call__ begins and when it ends. Direct calls that began inside of it end with it.
void BeginModuleCall();
void EndModuleCall();

}  // namespace memoir

#endif  // TRACKER_MODULES_DIRECT_CALLS_H_
