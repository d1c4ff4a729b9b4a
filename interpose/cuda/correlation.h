// By which number CUPTI knows the call of CUDA that runs on this thread: what its callback leaves here, the record of
// the call takes (tracker/cupti/kernel_times.h). libc only.
#ifndef INTERPOSE_CUDA_CORRELATION_H_
#define INTERPOSE_CUDA_CORRELATION_H_

#include <cstdint>

#include "interpose/export.h"

namespace memoir {

// 0 from the begin of a call that is recorded to CUPTI's callback in it; where nobody subscribed, always.
extern "C" MEMOIR_INTERPOSE_THREAD_LOCAL std::uint32_t memoir_cuda_correlation;

}  // namespace memoir

#endif  // INTERPOSE_CUDA_CORRELATION_H_
