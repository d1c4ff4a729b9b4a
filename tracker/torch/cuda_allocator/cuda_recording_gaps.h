// The gaps of this recording: time spans in which the memory of CUDA devices is unknown, with the reasons. A gap begins
// when an attempt to follow torch's allocator fails, and ends when a later attempt succeeds.
//
// One thread at a time writes: the thread that finds blocks, or that starts a recording. Any thread may read (hooks.h).
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
