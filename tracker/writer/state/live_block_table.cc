#include "tracker/writer/state/live_block_table.h"

#include <utility>

namespace memoir {

LiveBlockTable::LiveBlockTable(std::size_t max_blocks) : max_blocks_(max_blocks), slots_(1024, kNoRow) {}

std::size_t LiveBlockTable::Home(std::uint32_t device, std::uint64_t address) const {
  const std::uint64_t mixed = (address ^ (std::uint64_t{device} << 56)) * 0x9e3779b97f4a7c15u;
  return static_cast<std::size_t>(mixed >> 32) & (slots_.size() - 1);
}

std::size_t LiveBlockTable::FindSlot(std::uint32_t device, std::uint64_t address) const {
  std::size_t at = Home(device, address);
  for (; slots_[at] != kNoRow; at = (at + 1) & (slots_.size() - 1)) {
    const LiveBlock& block = Row(slots_[at]);
    if (block.address == address && block.device == device) break;
  }
  return at;
}

const LiveBlock* LiveBlockTable::Find(std::uint32_t device, std::uint64_t address) const {
  const std::uint32_t row = slots_[FindSlot(device, address)];
  return row == kNoRow ? nullptr : &Row(row);
}

LiveBlockTable::AddResult LiveBlockTable::Add(const LiveBlock& block, LiveBlock* old) {
  std::size_t at = FindSlot(block.device, block.address);
  if (slots_[at] != kNoRow) {
    LiveBlock& present = Row(slots_[at]);
    if (present.serial > block.serial) return AddResult::kStale;
    *old = std::exchange(present, block);
    return AddResult::kReplaced;
  }
  if (count_ >= max_blocks_) {
    ++untracked_;
    return AddResult::kFull;
  }
  if ((count_ + 1) * 3 > slots_.size() * 2) {
    Grow();
    at = FindSlot(block.device, block.address);
  }
  const std::uint32_t row = TakeRow();
  Row(row) = block;
  slots_[at] = row;
  ++count_;
  return AddResult::kNew;
}

bool LiveBlockTable::Remove(std::uint32_t device, std::uint64_t address, std::uint64_t serial, LiveBlock* block) {
  const std::size_t at = FindSlot(device, address);
  if (slots_[at] == kNoRow) return false;
  const std::uint32_t row = slots_[at];
  LiveBlock& present = Row(row);
  if (present.serial > serial) return false;
  *block = present;
  present.device = kFreeRow;
  present.thread = std::exchange(free_row_, row);
  EraseSlot(at);
  --count_;
  return true;
}

std::uint32_t LiveBlockTable::TakeRow() {
  if (free_row_ != kNoRow) {
    const std::uint32_t row = free_row_;
    free_row_ = Row(row).thread;
    return row;
  }
  if (rows_ % kPageRows == 0) pages_.push_back(std::make_unique<LiveBlock[]>(kPageRows));
  return rows_++;
}

// Closes the hole at a removed slot by moving later slots into it, so that searches need no marks for removed slots.
void LiveBlockTable::EraseSlot(std::size_t hole) {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = (hole + 1) & mask; slots_[at] != kNoRow; at = (at + 1) & mask) {
    const LiveBlock& block = Row(slots_[at]);
    const std::size_t home = Home(block.device, block.address);
    if (((at - home) & mask) < ((at - hole) & mask)) continue;  // the search for this block begins after the hole
    slots_[hole] = slots_[at];
    hole = at;
  }
  slots_[hole] = kNoRow;
}

void LiveBlockTable::Grow() {
  const std::vector<std::uint32_t> old = std::exchange(slots_, std::vector<std::uint32_t>(slots_.size() * 2, kNoRow));
  for (const std::uint32_t row : old) {
    if (row != kNoRow) slots_[FindSlot(Row(row).device, Row(row).address)] = row;
  }
}

}  // namespace memoir
