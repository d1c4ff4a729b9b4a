// Module calls that bypass `__call__`, as in model.forward(x). torch does not report such a call. So when an operator
// or a module call begins on a thread, Memoir reads the interpreter's frames of the thread.
//
// A frame belongs to such a direct call if its function is named forward, its first argument is a module with an id
// (module_calls.h), and its caller is not torch's Module._call_impl, which Module.__call__ uses. The begin of a direct
// call is recorded when the first operator or module call inside of the frame begins. The end is recorded when the
// first operator or module call after the end of the frame begins.
//
// The functions may be called on any thread.
#ifndef TRACKER_MODULES_DIRECT_CALLS_H_
#define TRACKER_MODULES_DIRECT_CALLS_H_

#include "tracker/modules/python_frames.h"

namespace memoir {

// Records the direct calls that have begun or ended on this thread since the previous call of this function. Call it
// while ranges are recorded.
void LookForDirectCalls(const memoir_python_frames& frames);
inline void FollowDirectCalls() {
  if (const auto* frames = python_frames.load(std::memory_order_acquire)) LookForDirectCalls(*frames);
}

// Called when a call through __call__ begins. First records the direct calls that have begun or ended before it.
void BeginModuleCall();
// Called when a call through __call__ ends. Ends the direct calls that began inside of this call.
void EndModuleCall();

}  // namespace memoir

#endif  // TRACKER_MODULES_DIRECT_CALLS_H_
