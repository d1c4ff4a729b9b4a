// The gaps of this recording: time spans in which the memory of CUDA devices is unknown, with the reasons. If an
// attempt to find the live blocks of torch's allocator fails, a gap opens. It closes when a later attempt succeeds.
//
// Only one thread at a time may call these functions: the thread that finds blocks, or that starts a recording. Any
// thread may read the gaps (hooks.h) and call CudaGapIsOpen.
#ifndef TRACKER_TORCH_CUDA_ALLOCATOR_CUDA_RECORDING_GAPS_H_
#define TRACKER_TORCH_CUDA_ALLOCATOR_CUDA_RECORDING_GAPS_H_

#include <cstdint>

namespace memoir {

// Removes all gaps. Call it when a recording begins.
void ForgetCudaGaps();
// Opens a gap, unless a gap is open already. `why`: a text that is never freed or changed.
void OpenCudaGap(const char* why, std::uint64_t since_tick);
// Closes the open gap. Does nothing if no gap is open.
void CloseCudaGap(std::uint64_t until_tick);
bool CudaGapIsOpen();

}  // namespace memoir

#endif  // TRACKER_TORCH_CUDA_ALLOCATOR_CUDA_RECORDING_GAPS_H_
