// The CUPTI correlation id of the current call on this thread. CUPTI's callback stores it; the call's record reads it
// (tracker/cupti/kernel_times.h). This code needs no library except libc.
#ifndef INTERPOSE_CUDA_CORRELATION_H_
#define INTERPOSE_CUDA_CORRELATION_H_

#include <cstdint>

#include "interpose/system/export.h"

namespace memoir {

// 0 from the beginning of a recorded call until CUPTI's callback inside this call. Always 0 without a subscription to
// CUPTI.
extern "C" MEMOIR_INTERPOSE_THREAD_LOCAL std::uint32_t memoir_cuda_correlation;

}  // namespace memoir

#endif  // INTERPOSE_CUDA_CORRELATION_H_
