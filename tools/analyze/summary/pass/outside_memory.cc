#include "tools/analyze/summary/pass/outside_memory.h"

#include "tools/analyze/driver/refusal.h"
#include "tools/analyze/grouping/driver_holdings.h"

namespace memoir {

void OutsideMemory::OpenWindow(const Event& event) {
  for (const auto& [who, held] : shared_.replay().driver().totals()) {
    if (!IsGpu(who.device) || !shared_.window.IsSelected(who.device)) continue;
    shared_.table.device(who.device, event.process);
    NoteBytes(who.device);
  }
}

void OutsideMemory::NoteAllocation(const DriverAllocateEvent& event) {
  if (!IsGpu(event.block->device)) return;
  shared_.table.device(event.block->device, event.process);
  if (shared_.in_window()) NoteBytes(event.block->device);
}

void OutsideMemory::NoteBytes(DeviceId id) {
  const std::uint64_t bytes = BytesOutsideTorch(shared_.replay(), id);
  Figures& figures = figures_[id];
  if (bytes <= figures.bytes) return;
  figures.bytes = bytes;
  figures.holders = HoldingsOutsideTorch(shared_.replay(), id);
}

void OutsideMemory::CountRefusal(const DriverRefusedEvent& event) {
  if (shared_.in_window() && IsOutOfMemory(shared_.replay(), event)) ++shared_.summary.refusals;
}

void OutsideMemory::NoteSample(const DeviceSampleEvent& event) {
  if (!shared_.in_window() || !event.free_bytes || !event.total_bytes) return;
  shared_.table.device(event.device, event.process);
  Figures& figures = figures_[event.device];
  if (figures.least_free && *figures.least_free <= *event.free_bytes) return;
  figures.least_free = event.free_bytes;
  figures.total = *event.total_bytes;
}

void OutsideMemory::FillRow(DeviceId id, DeviceRow& row) const {
  const auto found = figures_.find(id);
  if (found == figures_.end()) return;
  row.outside_bytes = found->second.bytes;
  row.outside = found->second.holders;
  row.least_free = found->second.least_free;
  row.total_bytes = found->second.total;
}

}  // namespace memoir
