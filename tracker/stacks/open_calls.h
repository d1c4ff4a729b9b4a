// Records the begins and ends of Python calls, and keeps a list of the open calls of each thread. A Python call is a
// call of a Python function, or a call of a C function by Python code. call_tracer.cc and call_events.cc report the
// calls.
//
// A call is identified by its frame. The end of a call may be missing, for example at a switch of greenlets (coroutines
// in a C extension), or because another profiler had replaced Memoir's function. At the next call, Memoir then corrects
// the list from the interpreter's frames.
//
//     frames:  main ──► train ──► forward          before:  main, train, <built-in add>     (its end is missing)
//                                                  after:   main, train, forward
//
// Runs on the calling thread, with the GIL held. Does not allocate. Does nothing while ranges are not recorded. When
// ranges are recorded again, the first call records all open calls.
#ifndef TRACKER_STACKS_OPEN_CALLS_H_
#define TRACKER_STACKS_OPEN_CALLS_H_

#include <cstdint>

#include "tracker/stacks/frame_layout.h"

namespace memoir {

// Record the begin and the end of a call of a Python function. `frame`: the thread's innermost frame, which runs the
// function.
void RecordCall(const FrameLayout& layout, const char* frame);
void RecordReturn(const FrameLayout& layout, const char* frame);

// A C function that Python calls: its PyMethodDef, and the object to which it is bound (nullptr: unbound). In the next
// two functions, `frame` is the frame that calls the C function.
struct BuiltinCall {
  const char* definition = nullptr;
  const char* self = nullptr;
};
void RecordBuiltinCall(const FrameLayout& layout, const char* frame, const BuiltinCall& call);
void RecordBuiltinReturn(const FrameLayout& layout, const char* frame);

}  // namespace memoir

#endif  // TRACKER_STACKS_OPEN_CALLS_H_
