// What torch's CUDA allocator says of a device in numbers. Under the allocator's lock of the device, which is recursive
// and this thread's: the calls read counters.
#ifndef TRACKER_TORCH_CUDA_ALLOCATOR_NUMBERS_H_
#define TRACKER_TORCH_CUDA_ALLOCATOR_NUMBERS_H_

#include "tracker/torch/cuda_allocator_kind.h"

#ifdef MEMOIR_TORCH_HAS_CUDA
#include <cstddef>
#include <cstdint>

#include "tracker/torch/device_records.h"

namespace memoir {

// At segments, snapshots and out of memory only.
DeviceNumbers NumbersOf(c10::cuda::CUDACachingAllocator::CUDAAllocator& allocator, c10::DeviceIndex index);

// What the allocator may reserve, or kNotKnown. Only at out of memory, where torch itself has just asked the driver the
// same under its lock; the device is the current one there. `memory_info`: cudaMemGetInfo, or nullptr.
using MemoryInfo = int (*)(std::size_t* free, std::size_t* total);
std::uint64_t LimitOf(c10::cuda::CUDACachingAllocator::CUDAAllocator& allocator, c10::DeviceIndex index,
                      MemoryInfo memory_info);

}  // namespace memoir

#endif  // MEMOIR_TORCH_HAS_CUDA
#endif  // TRACKER_TORCH_CUDA_ALLOCATOR_NUMBERS_H_
