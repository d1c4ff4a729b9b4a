#include "tools/model/repeat_places.h"

#include <algorithm>
#include <utility>

#include "absl/hash/hash.h"

namespace memoir {
namespace {

// The event that allocated a block which a cycle that begins with a step will free; nothing: it is none of the cycle's.
std::optional<std::int64_t> EventOf(const CycleLives& lives, std::uint64_t block, std::uint64_t step) {
  const std::uint64_t allocated = StepOfBlock(block);
  if (allocated >= step) return std::nullopt;
  const auto event = lives.EventOf(-static_cast<std::int64_t>(step - allocated), EventOfBlock(block));
  return event && lives.FreeOf(*event) >= 0 ? event : std::nullopt;
}

}  // namespace

void RepeatPlaces::TakeRow(std::size_t number) {
  EndChunksBefore(number);
  serials_.BeginRow(number);
  const RepeatRow& row = joined_.rows()[number];
  for (std::uint32_t i = row.first_event; i < row.first_event + row.events; ++i) {
    const StretchEvent& event = joined_.stretches()[number]->events[i];
    if (!IsOfMemory(event)) continue;
    if (event.of_host == 0) {
      placed_.push_back({0, serials_.Next(event.device)});
    } else if (event.kind == v1::ALLOCATE) {
      Allocate(BlockOfRow(row.step, i), event.device);
    } else {
      placed_.push_back({Freed(event, row.step), 0});
    }
  }
}

void RepeatPlaces::TakeAddressRow(std::size_t row) {
  EndChunksBefore(row);
  GiveAddresses(joined_.rows()[row].events);
  ShowGiven();
  living_.clear();
}

bool RepeatPlaces::TakeEndBefore(std::size_t row) {
  const bool ends = joined_.chunks()[joined_.ChunkOf(row)].first_row == row;
  const auto is_passed = [](const auto& living) { return living.second.index == kPassedOver; };
  if (!ends || std::ranges::any_of(living_, is_passed)) return false;
  EndChunksBefore(row);
  ShowGiven();
  living_.clear();
  return true;
}

std::optional<std::size_t> RepeatPlaces::Finish() {
  EndChunksBefore(joined_.rows().size());
  CheckChunk();
  ShowGiven();
  return misfit_ ? misfit_ : serials_.Misfit();
}

std::uint64_t RepeatPlaces::HashOfLiving(std::uint64_t step, std::uint64_t steps_back) const {
  std::uint64_t sum = 0;
  for (const auto& [block, place] : living_) {
    if (step - StepOfBlock(block) <= steps_back) sum += absl::HashOf(BlockOfRow(step, 0) - block);
  }
  return sum;
}

void RepeatPlaces::Allocate(std::uint64_t block, std::uint32_t device) {
  living_[block] = {placed_.size(), block, device, std::nullopt};
  allocations_.push_back(block);
  placed_.push_back({block, 0});
}

// A free of a block of an earlier chunk says its address: that which the chunk has given.
std::uint64_t RepeatPlaces::Freed(const StretchEvent& event, std::uint64_t step) {
  const std::uint64_t back = event.of_host - kAllocatedInStep;
  const bool is_of_row = event.of_host >= kAllocatedInStep && back <= step;
  const auto block = is_of_row ? living_.find(BlockOfRow(step - back, event.freed_event)) : living_.end();
  const bool is_of_chunk = block != living_.end() && !block->second.given;
  const std::optional<std::uint64_t> address = is_of_chunk ? std::nullopt : NextAddress(taken_);
  if (!is_of_chunk && !address) SayMisfit();
  if (block == living_.end() || (!is_of_chunk && block->second.given->address != address)) {
    ++others_freed_;
    if (block != living_.end() && block->second.index == kPassedOver) living_.erase(block);
    return address.value_or(0);
  }
  const std::uint64_t shown = block->second.address;
  living_.erase(block);
  return shown;
}

void RepeatPlaces::EndChunksBefore(std::size_t row) {
  while (taken_.chunk + 1 < joined_.chunks().size() && joined_.chunks()[taken_.chunk + 1].first_row <= row) {
    GiveAddresses(joined_.chunks()[taken_.chunk].living);
    CheckChunk();
    taken_ = {taken_.chunk + 1};
  }
}

void RepeatPlaces::GiveAddresses(std::uint32_t count) {
  std::uint64_t living = 0;
  for (const std::uint64_t allocated : std::exchange(allocations_, {})) {
    const auto block = living_.find(allocated);
    if (block == living_.end() || block->second.given) continue;
    const std::optional<RepeatPlace> given = NextLiving(taken_);
    if (!given) SayMisfit();
    block->second.given = given.value_or(RepeatPlace());
    ++living;
  }
  if (living != count) SayMisfit();
}

// Rows free what they have allocated; the rest may be freed by others, who know the real address.
void RepeatPlaces::ShowGiven() {
  for (auto& [block, place] : living_) {
    if (place.given && place.index != kPassedOver) placed_[place.index] = *place.given;
  }
}

void RepeatPlaces::CheckChunk() {
  if (taken_.address != joined_.RepeatsOf(taken_.chunk).addresses.size()) SayMisfit();
}

std::optional<std::uint64_t> RepeatPlaces::NextAddress(Taken& taken) const {
  const std::vector<std::uint64_t>& addresses = joined_.RepeatsOf(taken.chunk).addresses;
  if (taken.address == addresses.size()) return std::nullopt;
  return addresses[taken.address++];
}

std::optional<RepeatPlace> RepeatPlaces::NextLiving(Taken& taken) const {
  const std::vector<std::uint64_t>& serials = joined_.RepeatsOf(taken.chunk).living_serials;
  const std::optional<std::uint64_t> address = NextAddress(taken);
  if (!address || taken.living_serial == serials.size()) return std::nullopt;
  return RepeatPlace{*address, serials[taken.living_serial++]};
}

std::vector<LivingBlock> RepeatPlaces::LivingOf(const CycleLives& lives, std::uint64_t step) const {
  std::vector<LivingBlock> living;
  for (const auto& [block, place] : living_) {
    if (EventOf(lives, block, step)) living.push_back({block, place.address, place.device});
  }
  return living;
}

std::size_t RepeatPlaces::PassOver(absl::Span<const RowsOfStep> steps, const CycleLives& lives,
                                   absl::flat_hash_map<std::uint32_t, std::uint64_t>* serials_before) {
  EndChunksBefore(steps.front().first_row);
  Passing passing = BeginPassing(lives, steps.front().step);
  const std::int64_t end = lives.BeginOf(static_cast<std::int64_t>(steps.size()));
  auto step = steps.begin();
  for (std::int64_t begin = 0; begin < end;) {
    const std::size_t next = passing.taken.chunk + 1;
    const bool ends = next < joined_.chunks().size() && joined_.chunks()[next].first_row < steps.back().end_row();
    std::int64_t at = end;
    if (ends) {
      const std::size_t row = joined_.chunks()[next].first_row;
      step = std::partition_point(step, steps.end(), [row](const RowsOfStep& of) { return of.end_row() <= row; });
      at = lives.BeginOf(step - steps.begin()) + joined_.rows()[row].first_event;
    }
    const std::optional<std::int64_t> wrong_free = TakeFrees(lives, begin, at, passing);
    if (wrong_free || (ends && !EndChunk(lives, at, passing))) {
      const auto wrong_cycle = static_cast<std::size_t>(wrong_free.value_or(at) / lives.length());
      fits_from_ = steps[std::min((wrong_cycle + 1) * lives.steps(), steps.size() - 1)].first_row;
      return static_cast<std::size_t>((wrong_free ? begin : at) / lives.length());
    }
    begin = at;
  }
  *serials_before = serials_.PassOver(steps.front().first_row, steps.back().end_row());
  EndPassing(lives, steps.front().step, steps.size(), std::move(passing));
  return static_cast<std::size_t>(end / lives.length());
}

RepeatPlaces::Passing RepeatPlaces::BeginPassing(const CycleLives& lives, std::uint64_t step) const {
  Passing passing{taken_, {}, {}};
  for (const auto& [block, place] : living_) {
    const std::optional<std::int64_t> event = EventOf(lives, block, step);
    if (place.given && event) passing.given[*event] = *place.given;
    if (!place.given && !event) passing.others.emplace_back(block, std::nullopt);
  }
  std::ranges::sort(passing.others, {}, [](const auto& other) { return other.first; });
  return passing;
}

// Of blocks of earlier chunks, in their order. Returns the first that frees another one.
std::optional<std::int64_t> RepeatPlaces::TakeFrees(const CycleLives& lives, std::int64_t begin, std::int64_t end,
                                                    Passing& passing) const {
  std::vector<std::pair<std::int64_t, std::int64_t>> frees;
  for (const auto& [event, place] : passing.given) {
    const std::optional<std::int64_t> free = lives.FreeOf(event);
    if (begin <= free && free < end) frees.emplace_back(*free, event);
  }
  std::ranges::sort(frees);
  for (const auto& [free, event] : frees) {
    const auto block = passing.given.find(event);
    if (NextAddress(passing.taken) != block->second.address) return free;
    passing.given.erase(block);
  }
  return std::nullopt;
}

// Gives the addresses of what the chunk has allocated: blocks from before the cycle first.
bool RepeatPlaces::EndChunk(const CycleLives& lives, std::int64_t at, Passing& passing) const {
  std::uint32_t living = 0;
  for (auto& [block, given] : passing.others) {
    if (given) continue;
    given = NextLiving(passing.taken);
    if (!given) return false;
    ++living;
  }
  for (const std::int64_t event : lives.LivingBefore(at)) {
    const auto [block, is_of_chunk] = passing.given.try_emplace(event);
    if (!is_of_chunk) continue;
    const std::optional<RepeatPlace> given = NextLiving(passing.taken);
    if (!given) return false;
    block->second = *given;
    ++living;
  }
  const Taken& taken = passing.taken;
  const bool all = taken.address == joined_.RepeatsOf(taken.chunk).addresses.size();
  if (!all || living != joined_.chunks()[taken.chunk].living) return false;
  passing.taken = {taken.chunk + 1};
  return true;
}

// Blocks of the cycle go on as those that the last one allocates in their place.
void RepeatPlaces::EndPassing(const CycleLives& lives, std::uint64_t step, std::uint64_t steps, Passing passing) {
  taken_ = passing.taken;
  for (const auto& [block, given] : passing.others) living_[block].given = given;
  allocations_.clear();
  for (auto& [block, place] : std::exchange(living_, {})) {
    std::uint64_t later = block;
    if (const std::optional<std::int64_t> event = EventOf(lives, block, step)) {
      const auto given = passing.given.find(lives.BeginOf(static_cast<std::int64_t>(steps)) + *event);
      place.given = given == passing.given.end() ? std::nullopt : std::optional(given->second);
      place.index = kPassedOver;
      later += steps << 24;
    }
    living_[later] = place;
    if (!place.given) allocations_.push_back(later);
  }
  std::ranges::sort(allocations_);
}

}  // namespace memoir
