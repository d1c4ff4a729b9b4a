// Sees the calls of Python's interpreter before 3.12, by the profile function that each thread has one of
// (PyEval_SetProfile), and leaves that of the program, or of another profiler, in its place: ours calls it.
//
//     sys.setprofile(f) ─┐                           ┌─► RecordCall (open_calls.h)
//     torch.profiler    ─┴─► what a thread has: ours ┴─► theirs, with what they gave Python for it
//
// How it hears of those: sys.setprofile is a function whose definition points to one in C, and points to ours from here
// on; libraries call PyEval_SetProfile by import slots. One that does neither (cProfile) is found at the next call of a
// module, and until then calls of its thread are not seen. From 3.12 on sys.monitoring is there (call_events.cc).
//
// All with the GIL held. Knows no Python headers: what is needed of the interpreter is looked up by name.
#ifndef TRACKER_STACKS_CALL_TRACER_H_
#define TRACKER_STACKS_CALL_TRACER_H_

#include <atomic>
#include <cstddef>

namespace memoir {

// On all threads of the interpreter, and on those that Python starts from here on. False: `problem` says why.
bool TraceCalls(char* problem, std::size_t size);
void LeaveCalls();

extern constinit std::atomic<bool> calls_are_traced;

// The calling thread, where another has taken our place or it began without Python. Cheap where nothing changed.
void TraceCallsHere();
inline void KeepTracingCalls() {
  if (calls_are_traced.load(std::memory_order_relaxed)) TraceCallsHere();
}

}  // namespace memoir

#endif  // TRACKER_STACKS_CALL_TRACER_H_
