#include "tracker/torch/cuda_allocator/cuda_allocator_numbers.h"

#ifdef MEMOIR_TORCH_HAS_CUDA

#include <cmath>

namespace memoir {
namespace {

using c10::cuda::CUDACachingAllocator::CUDAAllocator;

// Returns the fraction of the device's memory that the allocator may reserve. Negative if this version of torch has no
// such function.
template <class Allocator>
double FractionOf(Allocator& allocator, c10::DeviceIndex index) {
  if constexpr (requires { allocator.getMemoryFraction(index); }) {
    return allocator.getMemoryFraction(index);
  } else {
    return -1;
  }
}

}  // namespace

DeviceNumbers NumbersOf(CUDAAllocator& allocator, c10::DeviceIndex index) {
  DeviceNumbers numbers;
  try {
    const auto stats = allocator.getDeviceStats(index);
    numbers.allocated = static_cast<std::uint64_t>(stats.allocated_bytes[0].current);
    numbers.active = static_cast<std::uint64_t>(stats.active_bytes[0].current);
    numbers.reserved = static_cast<std::uint64_t>(stats.reserved_bytes[0].current);
    numbers.alloc_retries = static_cast<std::uint64_t>(stats.num_alloc_retries);
    numbers.ooms = static_cast<std::uint64_t>(stats.num_ooms);
    numbers.known = true;
  } catch (...) {  // `known` stays false, so no record of the statistics is written
  }
  return numbers;
}

std::uint64_t LimitOf(CUDAAllocator& allocator, c10::DeviceIndex index, MemoryInfo memory_info) {
  std::size_t free = 0, total = 0;
  if (memory_info == nullptr || memory_info(&free, &total) != 0) return kNotKnown;
  try {
    const double fraction = FractionOf(allocator, index);
    if (fraction >= 0) return static_cast<std::uint64_t>(std::llround(fraction * static_cast<double>(total)));
  } catch (...) {  // the limit is unknown
  }
  return kNotKnown;
}

}  // namespace memoir

#endif  // MEMOIR_TORCH_HAS_CUDA
