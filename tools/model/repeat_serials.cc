#include "tools/model/repeat_serials.h"

#include <algorithm>
#include <utility>

#include "tools/model/repeat_places.h"

namespace memoir {

void RepeatSerials::BeginRow(std::size_t row) {
  EnterChunkOf(row, taken_);
  devices_in_row_.clear();
}

std::uint64_t RepeatSerials::Next(std::uint32_t device) {
  if (std::ranges::find(devices_in_row_, device) == devices_in_row_.end()) {
    devices_in_row_.push_back(device);
    TakeDelta(device, taken_);
  }
  return taken_.serials[device].next++;
}

std::size_t RepeatSerials::RowsInStep(std::size_t first_row, std::size_t end_row) {
  Taken taken = taken_;
  compared_ += taken.serials.size();
  for (std::size_t row = first_row; row < end_row; ++row) {
    EnterChunkOf(row, taken);
    const EventsByDevice& events = EventsOf(row);
    compared_ += 1 + events.size();
    for (const auto& [device, count] : events) {
      if (!TakeDelta(device, taken)) return row - first_row;
      taken.serials[device].next += count;
    }
  }
  return end_row - first_row;
}

absl::flat_hash_map<std::uint32_t, std::uint64_t> RepeatSerials::PassOver(std::size_t first_row, std::size_t end_row) {
  absl::flat_hash_map<std::uint32_t, std::uint64_t> before;
  for (std::size_t row = first_row; row < end_row; ++row) {
    EnterChunkOf(row, taken_);
    for (const auto& [device, count] : EventsOf(row)) {
      TakeDelta(device, taken_);
      std::uint64_t& serial = taken_.serials[device].next;
      before.try_emplace(device, serial);
      serial += count;
    }
  }
  return before;
}

std::optional<std::size_t> RepeatSerials::Misfit() const {
  Taken taken = taken_;
  CheckChunk(taken);
  return taken.misfit;
}

const RepeatSerials::EventsByDevice& RepeatSerials::EventsOf(std::size_t row) {
  const RepeatRow& of_row = joined_.rows()[row];
  const auto [events, added] =
      events_.try_emplace(std::tuple(joined_.stretches()[row].get(), of_row.first_event, of_row.events));
  EventsByDevice& counts = events->second;
  absl::flat_hash_map<std::uint32_t, std::size_t> places;
  for (const StretchEvent& event : added ? joined_.EventsOf(row) : absl::Span<const StretchEvent>()) {
    if (!IsOfMemory(event) || event.of_host != 0) continue;
    const auto [place, is_new] = places.try_emplace(event.device, counts.size());
    if (is_new) counts.push_back({event.device, 0});
    ++counts[place->second].events;
  }
  return counts;
}

void RepeatSerials::EnterChunkOf(std::size_t row, Taken& taken) const {
  while (taken.chunk + 1 < joined_.chunks().size() && joined_.chunks()[taken.chunk + 1].first_row <= row) {
    CheckChunk(taken);
    ++taken.chunk;
    taken.next = 0;
  }
}

// The first of a chunk is the serial itself.
bool RepeatSerials::TakeDelta(std::uint32_t device, Taken& taken) const {
  const std::vector<std::int64_t>& deltas = joined_.RepeatsOf(taken.chunk).serial_deltas;
  if (taken.next >= deltas.size()) {
    if (!taken.misfit) taken.misfit = taken.chunk;
    return false;
  }
  const auto delta = static_cast<std::uint64_t>(deltas[taken.next++]);
  OfDevice& serial = taken.serials[device];
  const bool is_first = std::exchange(serial.chunk, taken.chunk) != taken.chunk;
  const std::uint64_t before = std::exchange(serial.next, is_first ? delta : serial.next + delta);
  return serial.next == before;
}

void RepeatSerials::CheckChunk(Taken& taken) const {
  const bool fits = taken.next == joined_.RepeatsOf(taken.chunk).serial_deltas.size();
  if (!fits && !taken.misfit) taken.misfit = taken.chunk;
}

}  // namespace memoir
