// Records every operator below autograd, as a TorchDispatchMode would see it. It uses a boxed fallback for a dispatch
// key that is directly above the key Python (dispatch_key.h). While nothing is recorded, the fallback only forwards
// calls. Kernels run with the key excluded, so operators that a kernel calls are not seen, as with a Python mode.
#ifndef TRACKER_TORCH_RANGES_DISPATCH_FALLBACK_H_
#define TRACKER_TORCH_RANGES_DISPATCH_FALLBACK_H_

#include <cstddef>

namespace memoir {

// Registers the fallback at the first call. Returns false, with the cause in `problem` and nothing changed, if another
// library has the key or torch refuses it. Call it on the thread that starts a recording, while recording is off,
// because torch then changes the tables of all operators.
bool RegisterDispatchFallback(char* problem, std::size_t size);

// Sets whether the fallback records operators of the next recording. With `on`, the fallback sees operators of the
// calling thread and of each thread that starts later. On other threads it sees operators after the thread's next range
// or allocation. Called by one thread.
void RecordDispatchedOperators(bool on);

}  // namespace memoir

#endif  // TRACKER_TORCH_RANGES_DISPATCH_FALLBACK_H_
