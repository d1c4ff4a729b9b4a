#include "simcuda/contents/allocator_blocks.h"

#include <algorithm>
#include <iterator>

namespace memoir::simcuda {

void AllocatorBlocks::Add(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t end = address + bytes;
  const std::lock_guard lock(mutex_);
  auto next = blocks_.upper_bound(address);
  if (next != blocks_.begin() && std::prev(next)->second > address) --next;
  while (next != blocks_.end() && next->first < end) next = blocks_.erase(next);
  blocks_.emplace_hint(next, address, end);
}

ByteRange AllocatorBlocks::FindAround(std::uint64_t address, ByteRange within) const {
  std::uint64_t first = within.address, end = within.address + within.bytes;
  const std::lock_guard lock(mutex_);
  const auto next = blocks_.upper_bound(address);
  if (next != blocks_.end()) end = std::min(end, next->first);
  if (next != blocks_.begin()) {
    const auto [start, stop] = *std::prev(next);
    if (stop > address) return {start, stop - start};
    first = std::max(first, stop);
  }
  return {first, end - first};
}

}  // namespace memoir::simcuda
