// The part of SummaryPass that handles devices: their rows, and for devices with a caching allocator active and
// reserved bytes, retries and out-of-memory errors.
#include <algorithm>
#include <utility>

#include "tools/analyze/summary/summary_pass.h"

namespace memoir {

// Called after every event that changes the allocator's memory.
void SummaryPass::NoteCaching(const Event& event, DeviceId id) {
  if (!state().memory(id).caching()) return;
  has_caching_device_ = true;
  if (in_window()) NoteCachingPeaks(event, id);
}

void SummaryPass::NoteCachingPeaks(const Event& event, DeviceId id) {
  const DeviceMemory& memory = state().memory(id);
  CachingNotes& notes = caching_notes_[id];
  if (memory.active().all > notes.peak_active) {
    notes.peak_active = memory.active().all;
    notes.peak_active_tick = event.tick;
  }
  if (memory.reserved().all > notes.peak_reserved) {
    notes.peak_reserved = memory.reserved().all;
    notes.peak_reserved_tick = event.tick;
  }
}

void SummaryPass::SeeFreeCompleted(const FreeCompletedEvent& event) { CountEvent(event, true); }

void SummaryPass::SeeSegment(const SegmentEvent& event) {
  CountEvent(event, true);
  const Block& segment = *event.segment;
  table_.device(segment.device, event.process);
  // Some groupings need facts about a block, such as its category, and a segment has no such facts. They count the
  // segment for the group of its first block, because the segment was reserved for this block.
  if (in_window() && event.grows() && grouping_.NeedsTheBlock()) {
    new_segments_.push_back(segment);
  } else if (in_window() && event.grows()) {
    const Group group = grouping_.GroupOf(segment, event.process, state().dictionary());
    table_.AddReserved(segment.device, event.process, CellOf(group, false), segment.bytes);
  }
  NoteCaching(event, segment.device);
}

void SummaryPass::TakeSegmentsFor(const Block& block, ProcessId process, CellNumber cell) {
  std::erase_if(new_segments_, [&](const Block& segment) {
    const bool inside = block.device == segment.device && block.address >= segment.address &&
                        block.address - segment.address < segment.bytes;
    if (inside) table_.AddReserved(segment.device, process, cell, segment.bytes);
    return inside;
  });
}

void SummaryPass::SeeOutOfMemory(const OutOfMemoryEvent& event) {
  step_is_empty_ = false;
  CountEvent(event, true);
  table_.device(event.asked->device, event.process);
  caching_notes_[event.asked->device];
}

void SummaryPass::SeeDeviceStatistics(const DeviceStatisticsEvent& event) {
  CountEvent(event, true);
  table_.device(event.device, event.process);
  caching_notes_[event.device];
}

// Called before the window opens, because the bytes at the window's begin may be the window's peak.
void SummaryPass::OpenCaching(const Event& event) {
  for (std::size_t i = 0; i < table_.devices().size(); ++i) {
    const DeviceTable& table = table_.devices()[i];
    const DeviceId id{static_cast<std::uint32_t>(i)};
    if (!table.used || table.process != event.process || !state().memory(id).caching()) continue;
    caching_notes_[id].retries_at_begin = state().memory(id).alloc_retries();
    caching_notes_[id].ooms_at_begin = state().memory(id).ooms();
    NoteCachingPeaks(event, id);
    if (table.peak_tick == event.tick && table.live.bytes == table.peak.bytes) NoteAtPeak(id);
  }
}

void SummaryPass::NoteAtPeak(DeviceId id) {
  const DeviceMemory& memory = state().memory(id);
  caching_notes_[id].active_at_peak = memory.active().all;
  caching_notes_[id].requested_at_peak = memory.requested_bytes();
  caching_notes_[id].reserved_at_peak = memory.reserved().all;
}

void SummaryPass::CloseCaching(const Event& event) {
  for (auto& [id, moments] : caching_notes_) {
    const DeviceMemory& memory = state().memory(id);
    if (table_.devices()[id.value].process != event.process || !memory.caching()) continue;
    moments.active_at_end = memory.active().all;
    moments.reserved_at_end = memory.reserved().all;
    moments.retries += memory.alloc_retries() - moments.retries_at_begin;
    moments.ooms += memory.ooms() - moments.ooms_at_begin;
    moments.caching = true;
  }
}

void SummaryPass::FinishCaching(DeviceId id, const DeviceTable& table, DeviceRow& row) {
  const auto found = caching_notes_.find(id);
  if (found == caching_notes_.end()) return;
  const CachingNotes& notes = found->second;
  row.compiled_allocations = notes.compiled_allocations;
  row.compiled_bytes = notes.compiled_bytes;
  row.caching = notes.caching;
  if (!row.caching) return;
  const auto ns = [&](Tick tick) { return tick == 0 ? 0 : state().Nanoseconds(table.process, tick); };
  row.peak_active_bytes = notes.peak_active;
  row.peak_active_ns = ns(notes.peak_active_tick);
  row.peak_reserved_bytes = notes.peak_reserved;
  row.peak_reserved_ns = ns(notes.peak_reserved_tick);
  row.active_bytes_at_end = notes.active_at_end;
  row.reserved_bytes_at_end = notes.reserved_at_end;
  row.active_bytes_at_peak = notes.active_at_peak;
  row.requested_bytes_at_peak = notes.requested_at_peak;
  row.reserved_bytes_at_peak = notes.reserved_at_peak;
  row.num_alloc_retries = notes.retries;
  row.num_ooms = notes.ooms;
}

void SummaryPass::FinishDevices() {
  for (std::size_t i = 0; i < table_.devices().size(); ++i) {
    const DeviceTable& table = table_.devices()[i];
    if (!table.used) continue;
    const DeviceId id{static_cast<std::uint32_t>(i)};
    const DeviceInfo& info = state().dictionary().device(id);
    DeviceRow row;
    row.name = ToString(info);
    row.product = info.product;
    row.process = table.process;
    row.rank = capture().processes()[table.process.value].rank();
    row.peak_allocated_bytes = table.peak.bytes;
    row.peak_blocks = table.peak.blocks;
    row.peak_ns = table.peaks == 0 ? 0 : state().Nanoseconds(table.process, table.peak_tick);
    if (const auto notes = peak_notes_.find(id); notes != peak_notes_.end()) {
      row.peak_of_all_bytes = notes->second.of_all;
      row.peak_operator = state().dictionary().text(notes->second.operator_name);
      row.peak_line = lines_.LineOf(notes->second.callstack, state().dictionary());
      row.peak_range = state().dictionary().text(notes->second.user_name);
      if (notes->second.module.valid())
        row.peak_module = state().dictionary().module(notes->second.module).display_path();
      row.peak_phase = notes->second.phase;
      row.peak_step = notes->second.steps[static_cast<std::size_t>(step_sources_[table.process])];
    }
    compile_peaks_.Finish(id, row);
    row.live_bytes_at_begin = table.begin.bytes;
    row.live_bytes_at_end = table.end.bytes;
    row.live_blocks_at_end = table.end.blocks;
    row.first_seen_storages = table.first_seen;
    row.first_seen_bytes = table.first_seen_bytes;
    FinishCaching(id, table, row);
    FinishOutside(id, row);
    if (const EvictedDevice* evicted = EvictedOf(id)) FinishEvictedDevice(*evicted, row);
    summary_.devices.push_back(std::move(row));
    device_ids_.push_back(id);
  }
}

}  // namespace memoir
