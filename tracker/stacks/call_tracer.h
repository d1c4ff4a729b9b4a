// Records the calls of functions in Python before 3.12, through the profile function of each thread
// (PyEval_SetProfile). A profile function of the program or of another profiler keeps working, because Memoir's
// function calls it.
//
//     sys.setprofile(f) ─┐                                            ┌─► RecordCall (open_calls.h)
//     torch.profiler    ─┴─► the thread's profile function: Memoir's ─┴─► the other function, with its argument
//
// Memoir notices a new profile function in two ways. The definition of sys.setprofile points to a C function, which
// Memoir replaces. Libraries call PyEval_SetProfile through import slots, which Memoir redirects. A profiler that uses
// neither way (cProfile) is found at the next module call; until then the calls on its thread are not recorded. From
// Python 3.12 on sys.monitoring is used instead (call_events.cc).
//
// All functions are called with the GIL held. The implementation needs no Python headers, because it finds the
// interpreter's functions with dlsym.
#ifndef TRACKER_STACKS_CALL_TRACER_H_
#define TRACKER_STACKS_CALL_TRACER_H_

#include <atomic>
#include <cstddef>

namespace memoir {

// Starts to record the calls on all threads of the interpreter, and on threads that Python starts later. False on
// failure, with the reason in `problem`, cut to `size` bytes.
bool TraceCalls(char* problem, std::size_t size);
// Ends the recording of calls, and restores the profile functions that Memoir's functions have replaced.
void LeaveCalls();

extern constinit std::atomic<bool> calls_are_traced;

// Sets Memoir's profile function again on the calling thread, if another one has replaced it, or if Python did not
// start the thread. Cheap if Memoir's function is set.
void RestoreCallTracing();
inline void KeepTracingCalls() {
  if (calls_are_traced.load(std::memory_order_relaxed)) RestoreCallTracing();
}

}  // namespace memoir

#endif  // TRACKER_STACKS_CALL_TRACER_H_
