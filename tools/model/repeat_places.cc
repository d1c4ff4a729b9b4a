#include "tools/model/repeat_places.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/hash/hash.h"

namespace memoir {
namespace {

using EventsByDevice = absl::flat_hash_map<std::uint32_t, std::uint64_t>;

// Events on devices with a caching allocator, of rows that are mostly alike.
class CountsOfRows {
 public:
  CountsOfRows(const Repeats& repeats, const StretchesOfRows& stretches) : repeats_(repeats), stretches_(stretches) {}
  const EventsByDevice& Of(std::size_t row) {
    const RepeatRow& of_row = repeats_.rows[row];
    const auto [counts, added] = counts_.try_emplace(std::tuple(of_row.stretch, of_row.first_event, of_row.events));
    if (!added) return counts->second;
    for (const StretchEvent& event : EventsOf(of_row, *stretches_[row])) {
      if (IsOfMemory(event) && event.of_host == 0) ++counts->second[event.device];
    }
    return counts->second;
  }

 private:
  const Repeats& repeats_;
  const StretchesOfRows& stretches_;
  absl::flat_hash_map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, EventsByDevice> counts_;
};

}  // namespace

void RepeatPlaces::TakeRow(std::size_t number) {
  const RepeatRow& row = repeats_.rows[number];
  devices_in_row_.clear();
  for (std::uint32_t i = row.first_event; i < row.first_event + row.events; ++i) {
    const StretchEvent& event = stretches_[number]->events[i];
    if (!IsOfMemory(event)) continue;
    if (event.of_host == 0) {
      placed_.push_back({0, NextSerial(event.device)});
    } else if (event.kind == v1::ALLOCATE) {
      Allocate(BlockOfRow(row.step, i), event.device);
    } else {
      placed_.push_back({Freed(event, row.step), 0});
    }
  }
}

void RepeatPlaces::TakeAddressRow(std::uint32_t count) {
  for (const std::uint64_t allocated : std::exchange(allocations_, {})) {
    const auto block = living_.find(allocated);
    if (block == living_.end()) continue;
    placed_[block->second.index] = {NextAddress(), NextLivingSerial()};
    living_.erase(block);
    --count;
  }
  fits_ = fits_ && count == 0;
}

bool RepeatPlaces::fits() const {
  return fits_ && next_address_ == repeats_.addresses.size() && next_serial_ == repeats_.serial_deltas.size();
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

std::size_t RepeatPlaces::RowsInStep(std::size_t first_row, std::size_t rows) const {
  CountsOfRows counts(repeats_, stretches_);
  std::size_t delta = next_serial_;
  for (std::size_t row = first_row; row < first_row + rows; ++row) {
    for (std::size_t left = counts.Of(row).size(); left > 0; --left, ++delta) {
      if (delta >= repeats_.serial_deltas.size() || repeats_.serial_deltas[delta] != 0) return row - first_row;
    }
  }
  return rows;
}

// Blocks that live go on as those that the last step allocates in their place.
absl::flat_hash_map<std::uint32_t, std::uint64_t> RepeatPlaces::PassOver(std::size_t first_row, std::size_t rows,
                                                                         std::uint64_t steps) {
  CountsOfRows counts(repeats_, stretches_);
  absl::flat_hash_map<std::uint32_t, std::uint64_t> before;
  for (std::size_t row = first_row; row < first_row + rows; ++row) {
    for (const auto& [device, count] : counts.Of(row)) {
      std::uint64_t& serial = serials_[device];
      before.try_emplace(device, serial);
      serial += count;
      ++next_serial_;
    }
  }
  allocations_.clear();
  for (const auto& [block, place] : std::exchange(living_, {})) {
    const std::uint64_t later = block + (steps << 24);
    living_[later] = place;
    allocations_.push_back(later);
  }
  std::ranges::sort(allocations_);
  return before;
}

void RepeatPlaces::Allocate(std::uint64_t block, std::uint32_t device) {
  living_[block] = {placed_.size(), block, device};
  allocations_.push_back(block);
  placed_.push_back({block, 0});
}

std::uint64_t RepeatPlaces::Freed(const StretchEvent& event, std::uint64_t step) {
  const std::uint64_t back = event.of_host - kAllocatedInStep;
  if (event.of_host < kAllocatedInStep || back > step) return NextAddress();
  const auto block = living_.find(BlockOfRow(step - back, event.freed_event));
  if (block == living_.end()) return NextAddress();
  const std::uint64_t address = block->second.address;
  living_.erase(block);
  return address;
}

std::uint64_t RepeatPlaces::NextSerial(std::uint32_t device) {
  std::uint64_t& serial = serials_[device];
  if (std::ranges::find(devices_in_row_, device) == devices_in_row_.end()) {
    devices_in_row_.push_back(device);
    fits_ = fits_ && next_serial_ < repeats_.serial_deltas.size();
    if (fits_) serial += static_cast<std::uint64_t>(repeats_.serial_deltas[next_serial_++]);
  }
  return serial++;
}

std::uint64_t RepeatPlaces::NextAddress() {
  fits_ = fits_ && next_address_ < repeats_.addresses.size();
  return fits_ ? repeats_.addresses[next_address_++] : 0;
}

std::uint64_t RepeatPlaces::NextLivingSerial() {
  fits_ = fits_ && next_living_serial_ < repeats_.living_serials.size();
  return fits_ ? repeats_.living_serials[next_living_serial_++] : 0;
}

}  // namespace memoir
