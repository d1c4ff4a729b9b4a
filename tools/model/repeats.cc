#include "tools/model/repeats.h"

#include <algorithm>
#include <utility>

#include "absl/numeric/int128.h"

namespace memoir {
namespace {

bool IsOfMemory(const StretchEvent& event) { return event.kind != v1::STEP && event.kind != v1::STACK; }

}  // namespace

void StretchTable::Define(const std::shared_ptr<const Stretch>& stretch) {
  Entry& entry = entries_[stretch->id];
  if (entry.stretch != nullptr) events_ -= entry.stretch->events.size();
  entry = {stretch, ++uses_};
  events_ += stretch->events.size();
  while ((events_ > kMostEvents || entries_.size() > kMostStretches) && entries_.size() > 1) {
    const auto oldest = std::ranges::min_element(entries_, {}, [](const auto& known) { return known.second.used; });
    events_ -= oldest->second.stretch->events.size();
    entries_.erase(oldest);
  }
}

std::shared_ptr<const Stretch> StretchTable::Find(std::uint32_t id) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return nullptr;
  found->second.used = ++uses_;
  return found->second.stretch;
}

void StretchTable::Clear() {
  entries_.clear();
  events_ = 0;
}

// Goes through the rows once, before any is shown, so that a block has the same address from its first event on.
class RepeatCursor::Places {
 public:
  Places(const Repeats& repeats, std::vector<Placed>* placed) : repeats_(repeats), placed_(*placed) {}

  void TakeRow(const RepeatRow& row, const Stretch& stretch) {
    devices_in_row_.clear();
    for (std::uint32_t i = row.first_event; i < row.first_event + row.events; ++i) {
      const StretchEvent& event = stretch.events[i];
      if (!IsOfMemory(event)) continue;
      if (event.of_host == 0) {
        placed_.push_back({0, NextSerial(event.device)});
      } else if (event.kind == v1::ALLOCATE) {
        Allocate(Unknown(row.step, i));
      } else {
        placed_.push_back({Freed(event, row.step), 0});
      }
    }
  }

  // The blocks of rows that live, in the order of their allocations.
  void TakeAddressRow(std::uint32_t count) {
    for (const std::uint64_t unknown : std::exchange(allocations_, {})) {
      const auto block = living_.find(unknown);
      if (block == living_.end()) continue;
      placed_[block->second] = {NextAddress(), NextLivingSerial()};
      living_.erase(block);
      --count;
    }
    fits_ = fits_ && count == 0;
  }

  bool fits() const {
    return fits_ && next_address_ == repeats_.addresses.size() && next_serial_ == repeats_.serial_deltas.size();
  }

 private:
  static std::uint64_t Unknown(std::uint64_t step, std::uint32_t index) {
    return kFirstUnknownAddress + (step << 24 & (kFirstUnknownAddress - 1)) + index;
  }

  void Allocate(std::uint64_t unknown) {
    living_[unknown] = placed_.size();
    allocations_.push_back(unknown);
    placed_.push_back({unknown, 0});
  }

  std::uint64_t Freed(const StretchEvent& event, std::uint64_t step) {
    const std::uint64_t back = event.of_host - kAllocatedInStep;
    if (event.of_host < kAllocatedInStep || back > step) return NextAddress();
    const auto block = living_.find(Unknown(step - back, event.freed_event));
    if (block == living_.end()) return NextAddress();
    const std::uint64_t address = block->first;
    living_.erase(block);
    return address;
  }

  std::uint64_t NextSerial(std::uint32_t device) {
    std::uint64_t& serial = serials_[device];
    if (std::ranges::find(devices_in_row_, device) == devices_in_row_.end()) {
      devices_in_row_.push_back(device);
      fits_ = fits_ && next_serial_ < repeats_.serial_deltas.size();
      if (fits_) serial += static_cast<std::uint64_t>(repeats_.serial_deltas[next_serial_++]);
    }
    return serial++;
  }

  std::uint64_t NextAddress() {
    fits_ = fits_ && next_address_ < repeats_.addresses.size();
    return fits_ ? repeats_.addresses[next_address_++] : 0;
  }

  std::uint64_t NextLivingSerial() {
    fits_ = fits_ && next_living_serial_ < repeats_.living_serials.size();
    return fits_ ? repeats_.living_serials[next_living_serial_++] : 0;
  }

  const Repeats& repeats_;
  std::vector<Placed>& placed_;
  std::size_t next_address_ = 0, next_living_serial_ = 0, next_serial_ = 0;
  bool fits_ = true;
  absl::flat_hash_map<std::uint64_t, std::size_t> living_;  // by what stands for its address: its place in placed_
  std::vector<std::uint64_t> allocations_;
  absl::flat_hash_map<std::uint32_t, std::uint64_t> serials_;  // of the device's next event
  std::vector<std::uint32_t> devices_in_row_;
};

RepeatCursor::RepeatCursor(std::shared_ptr<Chunk> chunk, StretchTable& stretches) : chunk_(std::move(chunk)) {
  const Repeats& repeats = chunk_->payload->repeats;
  Places places(repeats, &placed_);
  for (const RepeatRow& row : repeats.rows) {
    if (row.stretch == 0) {
      places.TakeAddressRow(row.events);
      continue;
    }
    std::shared_ptr<const Stretch> stretch = stretches.Find(row.stretch);
    if (stretch == nullptr || row.first_event >= stretch->events.size() ||
        row.events > stretch->events.size() - row.first_event) {
      damaged_ = true;
      break;
    }
    places.TakeRow(row, *stretch);
    rows_.push_back({std::move(stretch), row.first_event, row.events, row.first_tick, row.ticks, row.step_number});
  }
  damaged_ = damaged_ || !places.fits();
  for (const v1::RepeatedRecords& records : chunk_->payload->repeated_records)
    start_stacks_[records.thread()] = records.start_stack();
  if (!done()) FindTick();
}

std::optional<std::uint32_t> RepeatCursor::TakeStartStack() {
  if (start_stacks_.empty()) return std::nullopt;
  const auto found = start_stacks_.find(event().thread);
  if (found == start_stacks_.end()) return std::nullopt;
  const std::uint32_t stack = found->second;
  start_stacks_.erase(found);
  return stack;
}

void RepeatCursor::Advance() {
  if (IsOfMemory(event())) ++memory_event_;
  if (++index_ == rows_[row_].events) {
    ++row_;
    index_ = 0;
  }
  if (!done()) FindTick();
}

// Between its first and its last event a row goes on as its stretch did.
void RepeatCursor::FindTick() {
  const Row& row = rows_[row_];
  const std::vector<StretchEvent>& events = row.stretch->events;
  const std::uint64_t first = events[row.first_event].tick;
  const std::uint64_t whole = events[row.first_event + row.events - 1].tick - first;
  const std::uint64_t passed = event().tick - first;
  const bool is_last = index_ + 1 == row.events;
  const std::uint64_t part = whole == 0 ? 0 : static_cast<std::uint64_t>(absl::uint128(row.ticks) * passed / whole);
  tick_ = row.first_tick + (is_last ? row.ticks : part);
}

}  // namespace memoir
