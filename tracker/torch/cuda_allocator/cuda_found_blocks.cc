#include "tracker/torch/cuda_allocator/cuda_found_blocks.h"

#ifdef MEMOIR_TORCH_HAS_CUDA

#include <algorithm>

#include "tracker/torch/cuda_allocator/device_records.h"

namespace memoir {
namespace {

// Records a segment. Readers recognize a segment of torch's pool for small blocks by its size, 2 MiB. So an expandable
// segment of this pool is recorded as several segments of 2 MiB, the unit in which torch maps memory.
void RecordFoundSegment(std::uint64_t address, std::uint64_t bytes, bool large, std::uint64_t serial,
                        const DevicePlace& place) {
  constexpr std::uint64_t kSmallStep = 2u << 20;
  const std::uint64_t step = large ? bytes : kSmallStep;
  for (std::uint64_t at = 0; at < bytes; at += step)
    RecordSegment(SegmentAction::kFound, address + at, std::min(step, bytes - at), serial, place);
}

}  // namespace

void RecordFoundSegment(const c10::cuda::CUDACachingAllocator::SegmentInfo& segment, std::uint64_t serial) {
  DevicePlace place{};
  place.stream = reinterpret_cast<std::uintptr_t>(segment.stream);
  place.device_type = static_cast<std::uint8_t>(c10::DeviceType::CUDA);
  place.device_index = static_cast<std::int8_t>(segment.device);
  place.pool_graph = static_cast<std::uint32_t>(segment.owner_private_pool_id.first);
  place.pool_user = static_cast<std::uint32_t>(segment.owner_private_pool_id.second);
  RecordFoundSegment(segment.address, segment.total_size, segment.is_large, serial, place);
  std::uint64_t address = segment.address;
  for (const auto& block : segment.blocks) {
    if (block.active || block.allocated)
      RecordBlock(RecordKind::kBlockFound, address, block.size, block.requested_size, serial, place);
    if (block.active && !block.allocated) RecordFree(RecordKind::kDeallocate, address, serial + 1, place);
    address += block.size;
  }
}

}  // namespace memoir

#endif  // MEMOIR_TORCH_HAS_CUDA
