// Records the segments, and the live blocks in them, that a snapshot of torch's CUDA allocator shows.
#ifndef TRACKER_TORCH_CUDA_ALLOCATOR_CUDA_FOUND_BLOCKS_H_
#define TRACKER_TORCH_CUDA_ALLOCATOR_CUDA_FOUND_BLOCKS_H_

#include "tracker/torch/cuda_allocator/cuda_allocator_kind.h"

#ifdef MEMOIR_TORCH_HAS_CUDA
#include <cstdint>

namespace memoir {

// Records one segment and its blocks. Call it on the thread that took the snapshot, under no lock. The records have the
// serial `serial`, and `serial` + 1 for frees of blocks that a stream still uses.
void RecordFoundSegment(const c10::cuda::CUDACachingAllocator::SegmentInfo& segment, std::uint64_t serial);

}  // namespace memoir

#endif  // MEMOIR_TORCH_HAS_CUDA
#endif  // TRACKER_TORCH_CUDA_ALLOCATOR_CUDA_FOUND_BLOCKS_H_
