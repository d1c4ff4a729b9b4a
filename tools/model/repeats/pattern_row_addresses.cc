#include "tools/model/repeats/pattern_row_addresses.h"

#include <algorithm>
#include <utility>

#include "absl/hash/hash.h"

namespace memoir {
namespace {

// Returns the number of the event that allocated `block`, as RepeatGroupLifetimes numbers events for the group that
// begins with `step`. nullopt if the block was not allocated before `step`, or no repeat of this group frees it.
std::optional<std::int64_t> EventOf(const RepeatGroupLifetimes& lifetimes, std::uint64_t block, std::uint64_t step) {
  const std::uint64_t allocated = StepOfBlock(block);
  if (allocated >= step) return std::nullopt;
  const auto event = lifetimes.EventOf(-static_cast<std::int64_t>(step - allocated), EventOfBlock(block));
  return event && lifetimes.FreeOf(*event) >= 0 ? event : std::nullopt;
}

}  // namespace

void PatternRowAddresses::TakeRow(std::size_t number) {
  EndChunksBefore(number);
  serials_.BeginRow(number);
  const PatternRow& row = joined_.rows()[number];
  for (std::uint32_t i = row.first_event; i < row.first_event + row.events; ++i) {
    const PatternEvent& event = joined_.patterns()[number]->events[i];
    if (!IsMemoryEvent(event)) continue;
    if (event.of_host == 0) {
      addresses_.push_back({0, serials_.NextSerial(event.device)});
    } else if (event.kind == v1::ALLOCATE) {
      Allocate(RowBlockId(row.step, i), event.device);
    } else {
      addresses_.push_back({TakeFree(event, row.step), 0});
    }
  }
}

void PatternRowAddresses::TakeAddressRow(std::size_t row) {
  EndChunksBefore(row);
  GiveAddresses(joined_.rows()[row].events);
  ShowGiven();
  live_blocks_.clear();
}

bool PatternRowAddresses::TakeEndBefore(std::size_t row) {
  const bool ends = joined_.chunks()[joined_.ChunkOf(row)].first_row == row;
  const auto is_collapsed = [](const auto& live) { return live.second.index == kCollapsed; };
  if (!ends || std::ranges::any_of(live_blocks_, is_collapsed)) return false;
  EndChunksBefore(row);
  ShowGiven();
  live_blocks_.clear();
  return true;
}

std::optional<std::size_t> PatternRowAddresses::Finish() {
  EndChunksBefore(joined_.rows().size());
  CheckChunk();
  ShowGiven();
  return misfit_ ? misfit_ : serials_.FindMisfit();
}

std::uint64_t PatternRowAddresses::HashLiveBlocks(std::uint64_t step, std::uint64_t steps_back) const {
  std::uint64_t sum = 0;
  for (const auto& [block, place] : live_blocks_) {
    if (step - StepOfBlock(block) <= steps_back) sum += absl::HashOf(RowBlockId(step, 0) - block);
  }
  return sum;
}

void PatternRowAddresses::Allocate(std::uint64_t block, std::uint32_t device) {
  live_blocks_[block] = {addresses_.size(), block, device, std::nullopt};
  allocations_.push_back(block);
  addresses_.push_back({block, 0});
}

// Returns the address of the free. If no row of this chunk allocated the freed block, the chunk records the address of
// the free. If a row of an earlier chunk allocated the block, this address must be the one that the earlier chunk
// recorded for the block.
std::uint64_t PatternRowAddresses::TakeFree(const PatternEvent& event, std::uint64_t step) {
  const std::uint64_t back = event.of_host - kAllocatedInStep;
  const bool is_of_row = event.of_host >= kAllocatedInStep && back <= step;
  const auto block = is_of_row ? live_blocks_.find(RowBlockId(step - back, event.freed_event)) : live_blocks_.end();
  const bool is_of_chunk = block != live_blocks_.end() && !block->second.given;
  const std::optional<std::uint64_t> address = is_of_chunk ? std::nullopt : NextAddress(chunk_cursor_);
  if (!is_of_chunk && !address) NoteMisfit();
  if (block == live_blocks_.end() || (!is_of_chunk && block->second.given->address != address)) {
    ++others_freed_;
    if (block != live_blocks_.end() && block->second.index == kCollapsed) live_blocks_.erase(block);
    return address.value_or(0);
  }
  const std::uint64_t shown = block->second.address;
  live_blocks_.erase(block);
  return shown;
}

void PatternRowAddresses::EndChunksBefore(std::size_t row) {
  while (chunk_cursor_.chunk + 1 < joined_.chunks().size() &&
         joined_.chunks()[chunk_cursor_.chunk + 1].first_row <= row) {
    GiveAddresses(joined_.chunks()[chunk_cursor_.chunk].live_blocks);
    CheckChunk();
    chunk_cursor_ = {chunk_cursor_.chunk + 1};
  }
}

void PatternRowAddresses::GiveAddresses(std::uint32_t count) {
  std::uint64_t live = 0;
  for (const std::uint64_t allocated : std::exchange(allocations_, {})) {
    const auto block = live_blocks_.find(allocated);
    if (block == live_blocks_.end() || block->second.given) continue;
    const std::optional<EventAddress> given = NextLiveAddress(chunk_cursor_);
    if (!given) NoteMisfit();
    block->second.given = given.value_or(EventAddress());
    ++live;
  }
  if (live != count) NoteMisfit();
}

// Replaces the invented addresses of live blocks by the recorded addresses, because events outside of these rows, which
// may free the blocks, refer to them by the recorded addresses.
void PatternRowAddresses::ShowGiven() {
  for (auto& [block, place] : live_blocks_) {
    if (place.given && place.index != kCollapsed) addresses_[place.index] = *place.given;
  }
}

void PatternRowAddresses::CheckChunk() {
  if (chunk_cursor_.address != joined_.RowsOfChunk(chunk_cursor_.chunk).addresses.size()) NoteMisfit();
}

std::optional<std::uint64_t> PatternRowAddresses::NextAddress(ChunkCursor& cursor) const {
  const std::vector<std::uint64_t>& addresses = joined_.RowsOfChunk(cursor.chunk).addresses;
  if (cursor.address == addresses.size()) return std::nullopt;
  return addresses[cursor.address++];
}

std::optional<EventAddress> PatternRowAddresses::NextLiveAddress(ChunkCursor& cursor) const {
  const std::vector<std::uint64_t>& serials = joined_.RowsOfChunk(cursor.chunk).live_serials;
  const std::optional<std::uint64_t> address = NextAddress(cursor);
  if (!address || cursor.live_serial == serials.size()) return std::nullopt;
  return EventAddress{*address, serials[cursor.live_serial++]};
}

std::vector<LiveRowBlock> PatternRowAddresses::LiveBlocksOf(const RepeatGroupLifetimes& lifetimes,
                                                            std::uint64_t step) const {
  std::vector<LiveRowBlock> live;
  for (const auto& [block, place] : live_blocks_) {
    if (EventOf(lifetimes, block, step)) live.push_back({block, place.address, place.device});
  }
  return live;
}

std::size_t PatternRowAddresses::Collapse(absl::Span<const StepRows> steps, const RepeatGroupLifetimes& lifetimes,
                                          absl::flat_hash_map<std::uint32_t, std::uint64_t>* serials_before) {
  EndChunksBefore(steps.front().first_row);
  CollapseState state = BeginCollapse(lifetimes, steps.front().step);
  const std::int64_t end = lifetimes.BeginOf(static_cast<std::int64_t>(steps.size()));
  auto step = steps.begin();
  for (std::int64_t begin = 0; begin < end;) {
    const std::size_t next = state.cursor.chunk + 1;
    const bool ends = next < joined_.chunks().size() && joined_.chunks()[next].first_row < steps.back().end_row();
    std::int64_t at = end;
    if (ends) {
      const std::size_t row = joined_.chunks()[next].first_row;
      step = std::partition_point(step, steps.end(), [row](const StepRows& of) { return of.end_row() <= row; });
      at = lifetimes.BeginOf(step - steps.begin()) + joined_.rows()[row].first_event;
    }
    const std::optional<std::int64_t> wrong_free = TakeFrees(lifetimes, begin, at, state);
    if (wrong_free || (ends && !EndChunk(lifetimes, at, state))) {
      const auto wrong_group = static_cast<std::size_t>(wrong_free.value_or(at) / lifetimes.length());
      first_collapsible_row_ = steps[std::min((wrong_group + 1) * lifetimes.steps(), steps.size() - 1)].first_row;
      return static_cast<std::size_t>((wrong_free ? begin : at) / lifetimes.length());
    }
    begin = at;
  }
  *serials_before = serials_.Collapse(steps.front().first_row, steps.back().end_row());
  EndCollapse(lifetimes, steps.front().step, steps.size(), std::move(state));
  return static_cast<std::size_t>(end / lifetimes.length());
}

PatternRowAddresses::CollapseState PatternRowAddresses::BeginCollapse(const RepeatGroupLifetimes& lifetimes,
                                                                      std::uint64_t step) const {
  CollapseState state{chunk_cursor_, {}, {}};
  for (const auto& [block, place] : live_blocks_) {
    const std::optional<std::int64_t> event = EventOf(lifetimes, block, step);
    if (place.given && event) state.given[*event] = *place.given;
    if (!place.given && !event) state.others.emplace_back(block, std::nullopt);
  }
  std::ranges::sort(state.others, {}, [](const auto& other) { return other.first; });
  return state;
}

// Compares the recorded addresses of the frees from event `begin` up to event `end` with the recorded addresses of the
// blocks. Returns the first free with another address than its block. nullopt if all addresses are equal.
std::optional<std::int64_t> PatternRowAddresses::TakeFrees(const RepeatGroupLifetimes& lifetimes, std::int64_t begin,
                                                           std::int64_t end, CollapseState& state) const {
  std::vector<std::pair<std::int64_t, std::int64_t>> frees;
  for (const auto& [event, place] : state.given) {
    const std::optional<std::int64_t> free = lifetimes.FreeOf(event);
    if (begin <= free && free < end) frees.emplace_back(*free, event);
  }
  std::ranges::sort(frees);
  for (const auto& [free, event] : frees) {
    const auto block = state.given.find(event);
    if (NextAddress(state.cursor) != block->second.address) return free;
    state.given.erase(block);
  }
  return std::nullopt;
}

// At its end, a chunk records the addresses of the live blocks that it allocated. Assigns these addresses first to the
// blocks that the group does not free, then to the others. Returns false if the chunk recorded more or fewer addresses
// than it has live blocks.
bool PatternRowAddresses::EndChunk(const RepeatGroupLifetimes& lifetimes, std::int64_t at, CollapseState& state) const {
  std::uint32_t live = 0;
  for (auto& [block, given] : state.others) {
    if (given) continue;
    given = NextLiveAddress(state.cursor);
    if (!given) return false;
    ++live;
  }
  for (const std::int64_t event : lifetimes.AllocationsLiveBefore(at)) {
    const auto [block, is_of_chunk] = state.given.try_emplace(event);
    if (!is_of_chunk) continue;
    const std::optional<EventAddress> given = NextLiveAddress(state.cursor);
    if (!given) return false;
    block->second = *given;
    ++live;
  }
  const ChunkCursor& cursor = state.cursor;
  const bool all = cursor.address == joined_.RowsOfChunk(cursor.chunk).addresses.size();
  if (!all || live != joined_.chunks()[cursor.chunk].live_blocks) return false;
  state.cursor = {cursor.chunk + 1};
  return true;
}

// Updates the live blocks after the collapsed groups. From now on, each live block that a group frees represents the
// corresponding block of the last collapsed group.
void PatternRowAddresses::EndCollapse(const RepeatGroupLifetimes& lifetimes, std::uint64_t step, std::uint64_t steps,
                                      CollapseState state) {
  chunk_cursor_ = state.cursor;
  for (const auto& [block, given] : state.others) live_blocks_[block].given = given;
  allocations_.clear();
  for (auto& [block, place] : std::exchange(live_blocks_, {})) {
    std::uint64_t later = block;
    if (const std::optional<std::int64_t> event = EventOf(lifetimes, block, step)) {
      const auto given = state.given.find(lifetimes.BeginOf(static_cast<std::int64_t>(steps)) + *event);
      place.given = given == state.given.end() ? std::nullopt : std::optional(given->second);
      place.index = kCollapsed;
      later += steps << 24;
    }
    live_blocks_[later] = place;
    if (!place.given) allocations_.push_back(later);
  }
  std::ranges::sort(allocations_);
}

}  // namespace memoir
