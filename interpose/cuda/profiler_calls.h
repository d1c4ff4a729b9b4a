// Detects other users of CUPTI before their first call takes effect, because CUPTI allows one user per process, and
// Memoir leaves CUPTI to the other user.
//
// Watches calls through import slots (for torch.profiler: the slots of libtorch_cpu) and through functions that dlsym
// returned. This code needs no library except libc.
#ifndef INTERPOSE_CUDA_PROFILER_CALLS_H_
#define INTERPOSE_CUDA_PROFILER_CALLS_H_

#include "interpose/system/export.h"

namespace memoir {

// Makes `aside` run before each call of the program that subscribes to CUPTI, registers callbacks for CUPTI's activity
// records, or enables a kind of these records. `aside` runs on the thread of that call, whether recording is on or off.
// nullptr stops this. Has an effect only once WatchDriver has redirected these calls. `aside` must stay valid until the
// process ends.
MEMOIR_INTERPOSE_API void FollowProfilers(void (*aside)());

}  // namespace memoir

#endif  // INTERPOSE_CUDA_PROFILER_CALLS_H_
