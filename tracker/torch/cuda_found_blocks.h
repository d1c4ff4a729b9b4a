// Records of what a snapshot of torch's CUDA allocator has found: segments, and the blocks that are live in them.
#ifndef TRACKER_TORCH_CUDA_FOUND_BLOCKS_H_
#define TRACKER_TORCH_CUDA_FOUND_BLOCKS_H_

#include "tracker/torch/cuda_allocator_kind.h"

#ifdef MEMOIR_TORCH_HAS_CUDA
#include <cstdint>

namespace memoir {

// On the thread of the snapshot, under no lock. Takes `serial` of the device, and the one behind it.
void RecordFound(const c10::cuda::CUDACachingAllocator::SegmentInfo& segment, std::uint64_t serial);

}  // namespace memoir

#endif  // MEMOIR_TORCH_HAS_CUDA
#endif  // TRACKER_TORCH_CUDA_FOUND_BLOCKS_H_
