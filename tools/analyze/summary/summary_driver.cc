// The part of SummaryPass that handles driver allocations outside of torch's caching allocator.
#include <algorithm>

#include "tools/analyze/grouping/driver_holdings.h"
#include "tools/analyze/summary/summary_pass.h"

namespace memoir {

void SummaryPass::NoteOutside(DeviceId id) {
  if (!in_window() || state().dictionary().device(id).type != "cuda") return;
  const std::uint64_t bytes = BytesOutsideTorch(state(), id);
  OutsideNotes& notes = outside_[id];
  if (bytes <= notes.bytes) return;
  notes.bytes = bytes;
  notes.holders = HoldingsOutsideTorch(state(), id);
}

// Adds the driver allocations that are live when a selection begins.
void SummaryPass::OpenOutside(const Event& event) {
  for (const auto& [who, held] : state().driver().totals()) {
    if (state().dictionary().device(who.device).type != "cuda" || !IsSelected(who.device)) continue;
    table_.device(who.device, event.process);
    NoteOutside(who.device);
  }
}

void SummaryPass::SeeDriverAllocate(const DriverAllocateEvent& event) {
  CountEvent(event, true);
  if (state().dictionary().device(event.block->device).type != "cuda") return;
  table_.device(event.block->device, event.process);
  NoteOutside(event.block->device);
}

void SummaryPass::SeeDriverRefused(const DriverRefusedEvent& event) {
  CountEvent(event, true);
  if (in_window() && IsOutOfMemory(state(), event)) ++summary_.refusals;
}

void SummaryPass::SeeDeviceSample(const DeviceSampleEvent& event) {
  CountEvent(event, !event.before);
  if (!in_window() || !event.free_bytes || !event.total_bytes) return;
  table_.device(event.device, event.process);
  OutsideNotes& notes = outside_[event.device];
  if (notes.least_free && *notes.least_free <= *event.free_bytes) return;
  notes.least_free = event.free_bytes;
  notes.total = *event.total_bytes;
}

void SummaryPass::FinishOutside(DeviceId id, DeviceRow& row) {
  const auto found = outside_.find(id);
  if (found == outside_.end()) return;
  row.outside_bytes = found->second.bytes;
  row.outside = found->second.holders;
  row.least_free = found->second.least_free;
  row.total_bytes = found->second.total;
}

}  // namespace memoir
