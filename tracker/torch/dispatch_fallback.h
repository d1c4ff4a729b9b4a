// Every operator below autograd, as a TorchDispatchMode beside it would see them: a boxed fallback on a dispatch key
// right above Python's.
//
// The key (DispatchKey::Fake) is torch's, without a kernel in torch 2.11 and 2.15; only one library can have it. It
// takes part on a thread once it is in the thread's included keys. Compiled graphs are guarded by these keys: they are
// set once on each thread and never taken back, and the fallback passes everything on while nothing is recorded.
// Kernels run with the key excluded, so what an operator calls inside is not seen, as with a Python mode.
#ifndef TRACKER_TORCH_DISPATCH_FALLBACK_H_
#define TRACKER_TORCH_DISPATCH_FALLBACK_H_

#include <cstddef>

namespace memoir {

// Registers the fallback, at the first call. False, with the cause in `problem`, where the key is taken or torch
// refuses it: nothing has changed then. Call from the thread that starts a recording, while recording is off; torch
// rewrites the tables of all operators.
bool RegisterDispatchFallback(char* problem, std::size_t size);

// What the fallback does with operators of the next recording. On: from now on it sees those of the calling thread, of
// each thread that is started later, and of the others from their first range or allocation on. For the same thread.
void RecordDispatchedOperators(bool on);

// Includes the key on the calling thread, if operators were ever to be recorded. Cheap when that is done.
void ShowOperatorsOfThisThread();

}  // namespace memoir

#endif  // TRACKER_TORCH_DISPATCH_FALLBACK_H_
