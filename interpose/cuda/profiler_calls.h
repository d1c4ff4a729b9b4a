// Who else is about to use CUPTI, of which there is one to a process: told before the call that takes it gets there.
//
// Calls through import slots (libtorch_cpu's, for torch.profiler) and of functions that dlsym returned. libc only.
#ifndef INTERPOSE_CUDA_PROFILER_CALLS_H_
#define INTERPOSE_CUDA_PROFILER_CALLS_H_

#include "interpose/export.h"

namespace memoir {

// `aside` runs in each call of the program's that subscribes to CUPTI or enables what it records, on that thread,
// recorded or not; nullptr: nothing does. WatchDriver redirects the calls. Must stay.
MEMOIR_INTERPOSE_API void FollowProfilers(void (*aside)());

}  // namespace memoir

#endif  // INTERPOSE_CUDA_PROFILER_CALLS_H_
