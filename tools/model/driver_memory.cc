#include "tools/model/driver_memory.h"

namespace memoir {

void DriverMemory::AddToTotals(const DriverBlock& block) {
  GroupTotal& total = totals_[{block.device, block.call, block.library}];
  total.bytes += block.bytes;
  ++total.blocks;
}

void DriverMemory::RemoveFromTotals(const DriverBlock& block) {
  const auto total = totals_.find({block.device, block.call, block.library});
  total->second.bytes -= block.bytes;
  if (--total->second.blocks == 0) totals_.erase(total);
}

bool DriverMemory::Allocate(const DriverBlock& block) {
  const BlockKey where{block.device, block.address};
  const auto freed = newest_frees_.find(where);
  if (freed != newest_frees_.end() && freed->second.serial > block.serial) {
    if (freed->second.unmatched) --unmatched_frees_;
    freed->second.unmatched = false;
    return false;
  }
  if (blocks_.size() >= kMaxBlocks) return false;
  const auto [there, added] = blocks_.try_emplace(where, block);
  if (!added) {
    if (there->second.serial > block.serial) return false;  // a later allocation at this address was visited first
    RemoveFromTotals(there->second);  // the free of the earlier block was lost, or will be visited later
    there->second = block;
  }
  AddToTotals(block);
  return true;
}

std::optional<DriverBlock> DriverMemory::Free(DeviceId device, std::uint64_t address, std::uint64_t serial) {
  const BlockKey where{device, address};
  const auto there = blocks_.find(where);
  if (there != blocks_.end() && there->second.serial > serial) return std::nullopt;  // the free of an earlier block
  if (newest_frees_.size() >= kMaxBlocks) newest_frees_.clear();
  NewestFree& freed = newest_frees_[where];
  if (freed.serial > serial) return std::nullopt;  // a later free has ended the block already
  freed = {serial, there == blocks_.end()};
  if (freed.unmatched) {
    ++unmatched_frees_;
    return std::nullopt;
  }
  const DriverBlock block = there->second;
  RemoveFromTotals(block);
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
    RemoveFromTotals(at->second);
    at = blocks_.erase(at);
  }
}

void DriverMemory::Replace(absl::Span<const DriverBlock> live, bool complete) {
  const std::map<BlockKey, DriverBlock> known = std::exchange(blocks_, {});
  totals_.clear();
  newest_frees_.clear();
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
