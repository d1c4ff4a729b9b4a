#include "tools/model/repeat_places.h"

#include <algorithm>
#include <utility>

#include "absl/hash/hash.h"

namespace memoir {

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

bool RepeatPlaces::TakeEndBefore(std::size_t row, std::uint64_t step) {
  const bool ends = taken_.chunk + 1 < joined_.chunks().size() && joined_.chunks()[taken_.chunk + 1].first_row == row;
  const auto is_earlier = [step](const auto& living) { return StepOfBlock(living.first) < step; };
  if (!ends || std::ranges::any_of(living_, is_earlier)) return false;
  EndChunksBefore(row);
  ShowGiven();
  living_.clear();
  return true;
}

bool RepeatPlaces::Finish() {
  EndChunksBefore(joined_.rows().size());
  CheckChunk();
  ShowGiven();
  return fits_ && serials_.Finish();
}

std::uint64_t RepeatPlaces::HashOfLiving(std::uint64_t step) const {
  std::uint64_t sum = living_.size();
  for (const auto& [block, place] : living_) sum += absl::HashOf(BlockOfRow(step, 0) - block);
  return sum;
}

std::vector<LivingBlock> RepeatPlaces::Living() const {
  std::vector<LivingBlock> living;
  for (const auto& [block, place] : living_) living.push_back({block, place.address, place.device});
  return living;
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
  fits_ = fits_ && (is_of_chunk || address);
  if (block == living_.end() || (!is_of_chunk && block->second.given->address != address)) {
    ++others_freed_;
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
    fits_ = fits_ && given;
    block->second.given = given.value_or(RepeatPlace());
    ++living;
  }
  fits_ = fits_ && living == count;
}

// Rows free what they have allocated; the rest may be freed by others, who know the real address.
void RepeatPlaces::ShowGiven() {
  for (auto& [block, place] : living_) {
    if (place.given && place.index != kPassedOver) placed_[place.index] = *place.given;
  }
}

void RepeatPlaces::CheckChunk() {
  const Repeats& repeats = joined_.RepeatsOf(taken_.chunk);
  fits_ = fits_ && taken_.address == repeats.addresses.size();
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

std::int64_t RepeatPlaces::PassOver(absl::Span<const RowsOfStep> steps, const CycleLives& lives,
                                    absl::flat_hash_map<std::uint32_t, std::uint64_t>* serials_before) {
  EndChunksBefore(steps.front().first_row);
  const auto first_step = static_cast<std::int64_t>(steps.front().step);
  const auto event_of = [&](std::uint64_t block) {
    return lives.EventOf(static_cast<std::int64_t>(StepOfBlock(block)) - first_step, EventOfBlock(block));
  };
  GivenByEvent given;
  for (const auto& [block, place] : living_) {
    if (place.given) given[event_of(block)] = *place.given;
  }
  Taken taken = taken_;
  const std::int64_t end = lives.EventOf(static_cast<std::int64_t>(steps.size()), 0);
  auto step = steps.begin();
  for (std::int64_t begin = 0; begin < end;) {
    const std::size_t next = taken.chunk + 1;
    const bool ends = next < joined_.chunks().size() && joined_.chunks()[next].first_row < steps.back().end_row();
    std::int64_t at = end;
    if (ends) {
      const std::size_t row = joined_.chunks()[next].first_row;
      step = std::partition_point(step, steps.end(), [&](const RowsOfStep& of) { return of.end_row() <= row; });
      at = lives.EventOf(step - steps.begin(), joined_.rows()[row].first_event);
    }
    if (!TakeFrees(lives, begin, at, given, taken)) return begin / lives.length();
    if (ends && !EndChunk(lives, at, given, taken)) return begin / lives.length();
    begin = at;
  }
  taken_ = taken;
  *serials_before = serials_.PassOver(steps.front().first_row, steps.back().end_row());
  // Blocks that live go on as those that the last cycle allocates in their place.
  allocations_.clear();
  for (auto& [block, place] : std::exchange(living_, {})) {
    const auto known = given.find(event_of(block) + end);
    place.given = known == given.end() ? std::nullopt : std::optional(known->second);
    place.index = kPassedOver;
    const std::uint64_t later = block + (steps.size() << 24);
    living_[later] = place;
    if (!place.given) allocations_.push_back(later);
  }
  std::ranges::sort(allocations_);
  return end / lives.length();
}

// Of blocks of earlier chunks, in the order of the frees.
bool RepeatPlaces::TakeFrees(const CycleLives& lives, std::int64_t begin, std::int64_t end, GivenByEvent& given,
                             Taken& taken) const {
  std::vector<std::pair<std::int64_t, std::int64_t>> frees;
  for (const auto& [event, place] : given) {
    const std::int64_t free = lives.FreeOf(event);
    if (begin <= free && free < end) frees.emplace_back(free, event);
  }
  std::ranges::sort(frees);
  for (const auto& [free, event] : frees) {
    const auto block = given.find(event);
    if (NextAddress(taken) != block->second.address) return false;
    given.erase(block);
  }
  return true;
}

bool RepeatPlaces::EndChunk(const CycleLives& lives, std::int64_t at, GivenByEvent& given, Taken& taken) const {
  std::uint32_t living = 0;
  for (const std::int64_t event : lives.LivingBefore(at)) {
    const auto [block, is_of_chunk] = given.try_emplace(event);
    if (!is_of_chunk) continue;
    const std::optional<RepeatPlace> place = NextLiving(taken);
    if (!place) return false;
    block->second = *place;
    ++living;
  }
  const bool all = taken.address == joined_.RepeatsOf(taken.chunk).addresses.size();
  if (!all || living != joined_.chunks()[taken.chunk].living) return false;
  taken = {taken.chunk + 1};
  return true;
}

}  // namespace memoir
