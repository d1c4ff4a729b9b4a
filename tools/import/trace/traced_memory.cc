#include "tools/import/trace/traced_memory.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"

namespace memoir {

TracedMemory::TracedMemory(const ProfilerTrace& trace, ProfilerTrace::Index device)
    : events_(trace.memory), device_(device) {
  const auto first = std::ranges::find_if(
      events_, [&](const ProfilerTrace::MemoryEvent& event) { return event.device == device && !event.failed; });
  if (first == events_.end()) return;
  const bool known = first->total_allocated != ProfilerTrace::kUnknown;
  const std::int64_t base = known ? first->total_allocated - first->bytes : 0;
  FindInitialBlocks(static_cast<std::uint64_t>(std::max<std::int64_t>(base, 0)));
  for (std::size_t event = 0; event < events_.size(); ++event) {
    if (events_[event].device == device_ && !events_[event].failed) ApplyEvent(event);
  }
  CutWholes();
}

const TracedMemory::ImpliedBlocks* TracedMemory::ImpliedAt(std::size_t event) const {
  const auto found = implied_blocks_.find(event);
  return found == implied_blocks_.end() ? nullptr : &found->second;
}

// Finds the blocks that were live before the trace. In the trace, such a block is freed before a block is allocated at
// its address.
void TracedMemory::FindInitialBlocks(std::uint64_t base) {
  absl::flat_hash_set<std::uint64_t> seen;
  std::uint64_t left = base;
  for (const ProfilerTrace::MemoryEvent& event : events_) {
    if (event.device != device_ || event.failed || !seen.insert(event.address).second || event.bytes > 0) continue;
    const auto bytes = static_cast<std::uint64_t>(-event.bytes);
    if (bytes > left) continue;
    left -= bytes;
    initial_blocks_.push_back({event.address, bytes});
    Add(event.address, bytes);
  }
  if (left > 0) Begin(kBefore, left);
  sum_ = base;
}

void TracedMemory::ApplyEvent(std::size_t event) {
  const ProfilerTrace::MemoryEvent& memory = events_[event];
  const bool allocates = memory.bytes > 0;
  const bool lives = live_.contains(memory.address);
  if (lives) sum_ -= Remove(memory.address);
  if (lives && allocates) implied_blocks_[event].ends_block = true;
  if (!lives && !allocates) implied_blocks_[event].is_unknown = true;
  const std::uint64_t bytes = allocates ? static_cast<std::uint64_t>(memory.bytes) : 0;
  if (memory.total_allocated != ProfilerTrace::kUnknown) {
    // The total without this allocation.
    const auto total = static_cast<std::uint64_t>(memory.total_allocated);
    const std::uint64_t wanted = total - std::min(total, bytes);
    if (wanted != sum_ && (lives || allocates)) {
      ++untraced_;
      untraced_bytes_ += wanted > sum_ ? wanted - sum_ : sum_ - wanted;
    }
    if (wanted > sum_) Begin(event, wanted - sum_);
    if (wanted < sum_) End(event, sum_ - wanted);
    sum_ = wanted;
  }
  if (allocates) Add(memory.address, bytes);
  sum_ += bytes;
}

void TracedMemory::Add(std::uint64_t address, std::uint64_t bytes) {
  live_[address] = bytes;
  by_size_.emplace(bytes, address);
}

std::uint64_t TracedMemory::Remove(std::uint64_t address) {
  const auto found = live_.find(address);
  const std::uint64_t bytes = found->second;
  by_size_.erase({bytes, address});
  live_.erase(found);
  return bytes;
}

void TracedMemory::Begin(std::size_t event, std::uint64_t bytes) {
  const AddressRange piece{
      parts_.empty() ? ProfilerTrace::kMostAddress : parts_.back().piece.address + parts_.back().piece.bytes, bytes};
  parts_.push_back({wholes_.size(), piece});
  wholes_.push_back({piece, event, {}});
}

void TracedMemory::End(std::size_t event, std::uint64_t bytes) {
  std::vector<AddressRange>& ended = implied_blocks_[event].ended;
  for (; bytes > 0 && !parts_.empty();) {
    RemainingPart& part = parts_.back();
    const std::uint64_t ends = std::min(bytes, part.piece.bytes);
    part.piece.bytes -= ends;
    bytes -= ends;
    const std::uint64_t from = part.piece.address + part.piece.bytes;
    ended.push_back({from, ends});
    if (part.piece.bytes == 0) {
      parts_.pop_back();
    } else {
      wholes_[part.whole].cuts.push_back(from);
    }
  }
  if (bytes > 0) EndBlocks(event, bytes);
}

// Ends known blocks with a sum of `bytes`, which threads outside of the trace have freed. Chooses blocks by their
// sizes, because nothing else identifies them.
void TracedMemory::EndBlocks(std::size_t event, std::uint64_t bytes) {
  while (bytes > 0 && !by_size_.empty()) {
    auto block = by_size_.lower_bound({bytes, 0});
    if (block == by_size_.end()) --block;
    const auto [size, address] = *block;
    implied_blocks_[event].ended.push_back({address, size});
    Remove(address);
    if (size > bytes) Begin(event, size - bytes);
    bytes -= std::min(bytes, size);
  }
}

void TracedMemory::CutWholes() {
  for (WholeRange& whole : wholes_) {
    std::vector<AddressRange>& pieces = whole.event == kBefore ? initial_blocks_ : implied_blocks_[whole.event].began;
    std::ranges::sort(whole.cuts);
    std::uint64_t at = whole.piece.address;
    for (const std::uint64_t cut : whole.cuts) pieces.push_back({at, cut - std::exchange(at, cut)});
    pieces.push_back({at, whole.piece.address + whole.piece.bytes - at});
  }
}

}  // namespace memoir
