// When, in this recording, the memory of CUDA devices is not known, and why: spans that begin where an attempt to
// follow torch's allocator failed, and end where a later one succeeded.
//
// Written by one thread at a time, the one that is finding blocks or that starts a recording. Read by any (hooks.h).
#ifndef TRACKER_TORCH_CUDA_GAPS_H_
#define TRACKER_TORCH_CUDA_GAPS_H_

#include <cstdint>

namespace memoir {

// A recording begins: none yet.
void ForgetCudaGaps();
// Where one is open already, that one and its cause stay. `why`: a text that is never freed or changed.
void OpenCudaGap(const char* why, std::uint64_t since_tick);
// Does nothing where none is open.
void CloseCudaGap(std::uint64_t until_tick);
bool CudaGapIsOpen();

}  // namespace memoir

#endif  // TRACKER_TORCH_CUDA_GAPS_H_
