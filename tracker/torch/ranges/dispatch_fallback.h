// Records the operators below autograd: the same operators that a TorchDispatchMode would see. Memoir registers a boxed
// fallback for a dispatch key that is directly above the key Python (dispatch_key.h). While nothing is recorded, the
// fallback only forwards calls. While a kernel runs, the key is excluded, so operators that the kernel calls are not
// recorded. A TorchDispatchMode does not see these operators either.
#ifndef TRACKER_TORCH_RANGES_DISPATCH_FALLBACK_H_
#define TRACKER_TORCH_RANGES_DISPATCH_FALLBACK_H_

#include <cstddef>

namespace memoir {

// Registers the fallback at the first call. If another library uses the key, or torch refuses the registration, changes
// nothing, writes the cause into `problem`, which has `size` bytes, and returns false. Call it on the thread that
// starts a recording, while recording is off, because torch then changes the tables of all operators.
bool RegisterDispatchFallback(char* problem, std::size_t size);

// Sets whether the fallback records operators in the next recording. With `on`, torch calls the fallback on the calling
// thread and on each thread that starts later. On threads that already run, torch calls it after the thread's next
// range or allocation. Call it on the thread that starts the recording.
void RecordDispatchedOperators(bool on);

}  // namespace memoir

#endif  // TRACKER_TORCH_RANGES_DISPATCH_FALLBACK_H_
