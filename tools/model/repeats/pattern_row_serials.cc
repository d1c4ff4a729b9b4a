#include "tools/model/repeats/pattern_row_serials.h"

#include <algorithm>
#include <utility>

#include "tools/model/repeats/pattern_row_addresses.h"

namespace memoir {

void PatternRowSerials::BeginRow(std::size_t row) {
  EnterChunkOf(row, serial_cursor_);
  devices_in_row_.clear();
}

std::uint64_t PatternRowSerials::NextSerial(std::uint32_t device) {
  if (std::ranges::find(devices_in_row_, device) == devices_in_row_.end()) {
    devices_in_row_.push_back(device);
    TakeDelta(device, serial_cursor_);
  }
  return serial_cursor_.serials[device].next++;
}

std::size_t PatternRowSerials::CountUninterruptedRows(std::size_t first_row, std::size_t end_row) {
  SerialCursor cursor = serial_cursor_;
  compared_ += cursor.serials.size();
  for (std::size_t row = first_row; row < end_row; ++row) {
    EnterChunkOf(row, cursor);
    const EventsByDevice& events = EventsOf(row);
    compared_ += 1 + events.size();
    for (const auto& [device, count] : events) {
      if (!TakeDelta(device, cursor)) return row - first_row;
      cursor.serials[device].next += count;
    }
  }
  return end_row - first_row;
}

absl::flat_hash_map<std::uint32_t, std::uint64_t> PatternRowSerials::Collapse(std::size_t first_row,
                                                                              std::size_t end_row) {
  absl::flat_hash_map<std::uint32_t, std::uint64_t> before;
  for (std::size_t row = first_row; row < end_row; ++row) {
    EnterChunkOf(row, serial_cursor_);
    for (const auto& [device, count] : EventsOf(row)) {
      TakeDelta(device, serial_cursor_);
      std::uint64_t& serial = serial_cursor_.serials[device].next;
      before.try_emplace(device, serial);
      serial += count;
    }
  }
  return before;
}

std::optional<std::size_t> PatternRowSerials::FindMisfit() const {
  SerialCursor cursor = serial_cursor_;
  CheckChunk(cursor);
  return cursor.misfit;
}

const PatternRowSerials::EventsByDevice& PatternRowSerials::EventsOf(std::size_t row) {
  const PatternRow& of_row = joined_.rows()[row];
  const auto [events, added] =
      events_.try_emplace(std::tuple(joined_.patterns()[row].get(), of_row.first_event, of_row.events));
  EventsByDevice& counts = events->second;
  absl::flat_hash_map<std::uint32_t, std::size_t> places;
  for (const PatternEvent& event : added ? joined_.EventsOf(row) : absl::Span<const PatternEvent>()) {
    if (!IsMemoryEvent(event) || event.of_host != 0) continue;
    const auto [place, is_new] = places.try_emplace(event.device, counts.size());
    if (is_new) counts.push_back({event.device, 0});
    ++counts[place->second].events;
  }
  return counts;
}

void PatternRowSerials::EnterChunkOf(std::size_t row, SerialCursor& cursor) const {
  while (cursor.chunk + 1 < joined_.chunks().size() && joined_.chunks()[cursor.chunk + 1].first_row <= row) {
    CheckChunk(cursor);
    ++cursor.chunk;
    cursor.next = 0;
  }
}

// Takes the next delta, and sets the next serial of `device`. The first delta of a device in a chunk is this serial.
bool PatternRowSerials::TakeDelta(std::uint32_t device, SerialCursor& cursor) const {
  const std::vector<std::int64_t>& deltas = joined_.RowsOfChunk(cursor.chunk).serial_deltas;
  if (cursor.next >= deltas.size()) {
    if (!cursor.misfit) cursor.misfit = cursor.chunk;
    return false;
  }
  const auto delta = static_cast<std::uint64_t>(deltas[cursor.next++]);
  DeviceSerial& serial = cursor.serials[device];
  const bool is_first = std::exchange(serial.chunk, cursor.chunk) != cursor.chunk;
  const std::uint64_t before = std::exchange(serial.next, is_first ? delta : serial.next + delta);
  return serial.next == before;
}

void PatternRowSerials::CheckChunk(SerialCursor& cursor) const {
  const bool fits = cursor.next == joined_.RowsOfChunk(cursor.chunk).serial_deltas.size();
  if (!fits && !cursor.misfit) cursor.misfit = cursor.chunk;
}

}  // namespace memoir
