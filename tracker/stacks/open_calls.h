// Which calls of Python are open on a thread, and the records of those that begin and end: of Python functions, and of
// functions in C that Python calls. Who sees the calls is call_tracer.h.
//
// Calls are known by their frames, so that an end that was not seen, as where greenlets switch or another profiler took
// the place of ours for a while, is made up for at the next call: what the interpreter's frames say counts.
//
//     frames:  main ──► train ──► forward          known:  main, train, <built-in add>     (its end was not seen)
//                                                  now:    main, train, forward
//
// The thread that calls, with the GIL held. Nothing allocates. While ranges are not recorded nothing is done; the first
// call after that records all that are open.
#ifndef TRACKER_STACKS_OPEN_CALLS_H_
#define TRACKER_STACKS_OPEN_CALLS_H_

#include <cstdint>

#include "tracker/stacks/frame_layout.h"

namespace memoir {

// The Python function that `frame`, the thread's innermost, runs.
void RecordCall(const FrameLayout& layout, const char* frame);
void RecordReturn(const FrameLayout& layout, const char* frame);

// A function in C: its PyMethodDef, what it is bound to, nullptr: nothing, and the frame that calls it.
struct BuiltinCall {
  const char* definition = nullptr;
  const char* self = nullptr;
};
void RecordBuiltinCall(const FrameLayout& layout, const char* frame, const BuiltinCall& call);
void RecordBuiltinReturn(const FrameLayout& layout, const char* frame);

}  // namespace memoir

#endif  // TRACKER_STACKS_OPEN_CALLS_H_
