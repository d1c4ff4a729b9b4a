#include "tools/model/driver_memory.h"

namespace memoir {

void DriverMemory::Count(const DriverBlock& block) {
  Held& held = held_[{block.device, block.call, block.library}];
  held.bytes += block.bytes;
  ++held.blocks;
}

void DriverMemory::Discount(const DriverBlock& block) {
  const auto held = held_.find({block.device, block.call, block.library});
  held->second.bytes -= block.bytes;
  if (--held->second.blocks == 0) held_.erase(held);
}

bool DriverMemory::Allocate(const DriverBlock& block) {
  const Where where{block.device, block.address};
  const auto freed = freed_.find(where);
  if (freed != freed_.end() && freed->second.serial > block.serial) {
    if (freed->second.unmatched) --unmatched_frees_;
    freed->second.unmatched = false;
    return false;
  }
  if (blocks_.size() >= kMaxBlocks) return false;
  const auto [there, added] = blocks_.try_emplace(where, block);
  if (!added) {
    if (there->second.serial > block.serial) return false;  // it comes after the next one at its address
    Discount(there->second);                                // the free of the one before was lost, or is yet to come
    there->second = block;
  }
  Count(block);
  return true;
}

std::optional<DriverBlock> DriverMemory::Free(DeviceId device, std::uint64_t address, std::uint64_t serial) {
  const Where where{device, address};
  const auto there = blocks_.find(where);
  if (there != blocks_.end() && there->second.serial > serial) return std::nullopt;  // of one before it
  if (freed_.size() >= kMaxBlocks) freed_.clear();
  Freed& freed = freed_[where];
  if (freed.serial > serial) return std::nullopt;  // a later one has ended what was there
  freed = {serial, there == blocks_.end()};
  if (freed.unmatched) {
    ++unmatched_frees_;
    return std::nullopt;
  }
  const DriverBlock block = there->second;
  Discount(block);
  blocks_.erase(there);
  return block;
}

void DriverMemory::ForgetBefore(Tick tick) {
  for (auto at = blocks_.begin(); at != blocks_.end();) {
    if (at->second.tick >= tick) {
      ++at;
      continue;
    }
    forgotten_bytes_ += at->second.bytes;
    Discount(at->second);
    at = blocks_.erase(at);
  }
}

void DriverMemory::Replace(absl::Span<const DriverBlock> live, bool complete) {
  const std::map<Where, DriverBlock> known = std::exchange(blocks_, {});
  held_.clear();
  freed_.clear();
  for (const DriverBlock& block : live) {
    const auto there = known.find({block.device, block.address});
    Allocate(there != known.end() && there->second.serial == block.serial ? there->second : block);
  }
  if (complete) return;
  for (const auto& [where, block] : known) {
    if (!blocks_.contains(where)) Allocate(block);
  }
}

void DriverMemory::Clear() { *this = {}; }

}  // namespace memoir
