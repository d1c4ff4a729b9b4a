// Reads the statistics and the memory limit of a device from torch's CUDA allocator. Call these functions on the thread
// that holds the allocator's lock of the device. torch then takes this lock again, which is allowed, because the lock
// is recursive.
#ifndef TRACKER_TORCH_CUDA_ALLOCATOR_CUDA_ALLOCATOR_NUMBERS_H_
#define TRACKER_TORCH_CUDA_ALLOCATOR_CUDA_ALLOCATOR_NUMBERS_H_

#include "tracker/torch/cuda_allocator/cuda_allocator_kind.h"

#ifdef MEMOIR_TORCH_HAS_CUDA
#include <cstddef>
#include <cstdint>

#include "tracker/torch/cuda_allocator/device_records.h"

namespace memoir {

// Returns the allocator's statistics of a device. Call it only when segments change, at snapshots, and at out-of-memory
// errors, because torch copies all its statistics.
DeviceNumbers NumbersOf(c10::cuda::CUDACachingAllocator::CUDAAllocator& allocator, c10::DeviceIndex index);

// Returns the bytes that the allocator may reserve; kNotKnown if unknown. `memory_info`: cudaMemGetInfo, or nullptr.
// Call it only at an out-of-memory error. The device is then current, and a call of cudaMemGetInfo is safe, because
// torch has just called it under the same lock.
using MemoryInfo = int (*)(std::size_t* free, std::size_t* total);
std::uint64_t LimitOf(c10::cuda::CUDACachingAllocator::CUDAAllocator& allocator, c10::DeviceIndex index,
                      MemoryInfo memory_info);

}  // namespace memoir

#endif  // MEMOIR_TORCH_HAS_CUDA
#endif  // TRACKER_TORCH_CUDA_ALLOCATOR_CUDA_ALLOCATOR_NUMBERS_H_
