#include "tracker/torch/cuda_allocator/cuda_publication.h"

#ifdef MEMOIR_TORCH_HAS_CUDA

namespace memoir {
namespace {

using c10::cuda::CUDACachingAllocator::SnapshotInfo;
using c10::cuda::CUDACachingAllocator::TraceEntry;

// Returns true for an expandable segment. Only some versions of torch have this field.
template <class Segment>
bool IsExpandable(const Segment& segment) {
  if constexpr (requires { segment.is_expandable; }) {
    return segment.is_expandable;
  } else {
    return false;
  }
}

}  // namespace

void PublishTraced(const TraceEntry& entry) {
  const AddressRange range{entry.addr_, entry.size_};
  switch (entry.action_) {
    case TraceEntry::SEGMENT_ALLOC:
      return PublishChange(entry.device_, MemoryChange::kSegmentAllocated, range);
    case TraceEntry::SEGMENT_MAP:
      return PublishChange(entry.device_, MemoryChange::kSegmentMapped, range);
    case TraceEntry::SEGMENT_FREE:
      return PublishChange(entry.device_, MemoryChange::kSegmentFreed, range);
    case TraceEntry::SEGMENT_UNMAP:
      return PublishChange(entry.device_, MemoryChange::kSegmentUnmapped, range);
    case TraceEntry::FREE_COMPLETED:
      return PublishChange(entry.device_, MemoryChange::kBlockFreed, range);
    default:
      return;
  }
}

std::vector<FoundMemory> FoundToPublish(const SnapshotInfo& snapshot) {
  std::vector<FoundMemory> found;
  for (const auto& segment : snapshot.segments) {
    const MemoryChange kind = IsExpandable(segment) ? MemoryChange::kSegmentMapped : MemoryChange::kSegmentAllocated;
    found.push_back({segment.device, {kind, {segment.address, segment.total_size}}});
    std::uint64_t address = segment.address;
    for (const auto& block : segment.blocks) {
      if (block.active || block.allocated)
        found.push_back({segment.device, {MemoryChange::kBlockAllocated, {address, block.size}}});
      address += block.size;
    }
  }
  return found;
}

}  // namespace memoir

#endif  // MEMOIR_TORCH_HAS_CUDA
