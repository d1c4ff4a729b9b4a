// Converts reports of torch's CUDA allocator to the types of memory_publication.h.
#ifndef TRACKER_TORCH_CUDA_ALLOCATOR_CUDA_PUBLICATION_H_
#define TRACKER_TORCH_CUDA_ALLOCATOR_CUDA_PUBLICATION_H_

#include "tracker/torch/cuda_allocator/cuda_allocator_kind.h"

#ifdef MEMOIR_TORCH_HAS_CUDA
#include <vector>

#include "tracker/torch/publication/memory_publication.h"

namespace memoir {

// Publishes a change from the allocator's trace. Call it under the allocator's lock of the device. It ignores
// allocations, because the trace does not contain their rounded bytes; the hook on the allocator's report to the
// profiler publishes allocations.
void PublishTraced(const c10::cuda::CUDACachingAllocator::TraceEntry& entry);

// Returns each segment, followed by its blocks: allocated blocks, and blocks that the program has freed but a stream
// still uses.
std::vector<FoundMemory> FoundToPublish(const c10::cuda::CUDACachingAllocator::SnapshotInfo& snapshot);

}  // namespace memoir

#endif  // MEMOIR_TORCH_HAS_CUDA
#endif  // TRACKER_TORCH_CUDA_ALLOCATOR_CUDA_PUBLICATION_H_
