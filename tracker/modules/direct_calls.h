// Modules whose forward() is called past the module itself, as in model.forward(x): nobody is told of such a call, so
// it is read from the interpreter's frames of the thread where an operator or a module's call begins.
//
// A frame is of one where its function is named forward, its first argument is a module that is known, and its caller
// is not torch's Module._call_impl, which Module.__call__ goes through. The call begins with the first operator or
// module in it and ends with the first that finds its frame gone.
//
// Any thread.
#ifndef TRACKER_MODULES_DIRECT_CALLS_H_
#define TRACKER_MODULES_DIRECT_CALLS_H_

#include "tracker/modules/python_frames.h"

namespace memoir {

// Records calls that have begun or ended since the last look of this thread. While ranges are recorded.
void LookForDirectCalls(const memoir_python_frames& frames);
inline void FollowDirectCalls() {
  if (const auto* frames = python_frames.load(std::memory_order_acquire)) LookForDirectCalls(*frames);
}

// Around a module's call proper: what began inside of it ends with it.
void ModuleCallBegins();
void ModuleCallEnds();

}  // namespace memoir

#endif  // TRACKER_MODULES_DIRECT_CALLS_H_
