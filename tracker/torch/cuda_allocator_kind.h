// Which allocator torch has for CUDA devices, and how far it can be recorded: torch's own tells of its blocks, another
// one of nothing, but what it is asked for can be recorded instead (device_level_hook.h).
//
// One thread at a time, but for the last three.
#ifndef TRACKER_TORCH_CUDA_ALLOCATOR_KIND_H_
#define TRACKER_TORCH_CUDA_ALLOCATOR_KIND_H_

// Where the torch of this build has no CUDA, or its headers lack NVIDIA's, there is nothing to follow.
#if __has_include(<cuda_runtime.h>) && __has_include(<c10/cuda/impl/cuda_cmake_macros.h>)
#define MEMOIR_TORCH_HAS_CUDA 1
#include <c10/cuda/CUDACachingAllocator.h>

namespace memoir {

enum class CudaRecording {
  kBlocks,       // it can be followed block by block
  kDeviceLevel,  // what it is asked for is recorded, from this call on
  kNothing,
};

// Looks at the environment, for what follows: at the start, and once CUDA is ready, under Python's lock where there is
// Python. Threads of operators may not look: the program may be changing its environment.
void LookForCachingVariable();

// `find`: where the allocator in use is now, for a program may switch the cache on again.
CudaRecording ChooseCudaRecording(c10::cuda::CUDACachingAllocator::CUDAAllocator* (*find)());

// Of kNothing: why, one line that stays as it is.
const char* WhyCudaIsNotRecorded();
// nullptr, or that it is recorded at device level, and why: one line that stays as it is.
const char* CudaAtDeviceLevel();

}  // namespace memoir

#endif  // MEMOIR_TORCH_HAS_CUDA
#endif  // TRACKER_TORCH_CUDA_ALLOCATOR_KIND_H_
