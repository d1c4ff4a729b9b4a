// Determines which allocator torch uses for CUDA devices, and how Memoir can record it. torch's own allocator reports
// its blocks. Other allocators report nothing, but Memoir can record their allocations and deallocations, without
// segments: this is called device level (device_level_hook.h).
//
// Call the functions on one thread at a time. Only the last two may be called on any thread at any time.
#ifndef TRACKER_TORCH_CUDA_ALLOCATOR_CUDA_ALLOCATOR_KIND_H_
#define TRACKER_TORCH_CUDA_ALLOCATOR_CUDA_ALLOCATOR_KIND_H_

// If the torch of this build has no CUDA, or NVIDIA's headers are missing, the macro is not defined and no CUDA memory
// is recorded.
#if __has_include(<cuda_runtime.h>) && __has_include(<c10/cuda/impl/cuda_cmake_macros.h>)
#define MEMOIR_TORCH_HAS_CUDA 1
#include <c10/cuda/CUDACachingAllocator.h>

namespace memoir {

enum class CudaRecording {
  kBlocks,       // every block is recorded
  kDeviceLevel,  // the program's allocations and deallocations are recorded, without segments
  kNothing,
};

// Reads PYTORCH_NO_CUDA_MEMORY_CACHING for the functions below. Call it at the start of a recording, and again once
// CUDA is ready. It calls getenv, so no other thread may change the environment at the same time. Hooks must not call
// it, because they run at any time, also while another thread changes the environment.
void LookForCachingVariable();

// Determines how CUDA memory is recorded, and installs device_level_hook.h if necessary. `find` returns the allocator
// that is in use. It is also called at later allocations, because the program may switch the allocator's cache on.
CudaRecording ChooseCudaRecording(c10::cuda::CUDACachingAllocator::CUDAAllocator* (*find)());

// Returns the reason for kNothing: one line that is never freed.
const char* WhyCudaIsNotRecorded();
// Returns a line that reports that CUDA memory is recorded at device level, and the reason. The line is never freed.
// nullptr if CUDA memory is not recorded at device level.
const char* CudaAtDeviceLevel();

}  // namespace memoir

#endif  // MEMOIR_TORCH_HAS_CUDA
#endif  // TRACKER_TORCH_CUDA_ALLOCATOR_CUDA_ALLOCATOR_KIND_H_
