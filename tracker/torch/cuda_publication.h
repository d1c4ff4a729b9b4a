// What torch's CUDA allocator tells of itself, in the words of memory_publication.h.
#ifndef TRACKER_TORCH_CUDA_PUBLICATION_H_
#define TRACKER_TORCH_CUDA_PUBLICATION_H_

#include "tracker/torch/cuda_allocator_kind.h"

#ifdef MEMOIR_TORCH_HAS_CUDA
#include <vector>

#include "tracker/torch/memory_publication.h"

namespace memoir {

// Under the lock of the entry's device. A block that is allocated is not published by the trace, which does not know
// its bytes as rounded.
void PublishTraced(const c10::cuda::CUDACachingAllocator::TraceEntry& entry);

// Each segment before its blocks: those that the program has, and those that wait for a stream.
std::vector<FoundMemory> FoundToPublish(const c10::cuda::CUDACachingAllocator::SnapshotInfo& snapshot);

}  // namespace memoir

#endif  // MEMOIR_TORCH_HAS_CUDA
#endif  // TRACKER_TORCH_CUDA_PUBLICATION_H_
