#include "tools/analyze/summary/pass/caching_figures.h"

namespace memoir {

void CachingFigures::NoteMemory(const Event& event, DeviceId id) {
  if (!MemoryOf(id).caching()) return;
  has_device_ = true;
  if (shared_.in_window()) NotePeaks(event, id);
}

void CachingFigures::NotePeaks(const Event& event, DeviceId id) {
  const DeviceMemory& memory = MemoryOf(id);
  Figures& figures = figures_[id];
  if (memory.active().all > figures.peak_active) {
    figures.peak_active = memory.active().all;
    figures.peak_active_tick = event.tick;
  }
  if (memory.reserved().all > figures.peak_reserved) {
    figures.peak_reserved = memory.reserved().all;
    figures.peak_reserved_tick = event.tick;
  }
}

void CachingFigures::OpenWindow(const Event& event) {
  for (std::size_t i = 0; i < shared_.table.devices().size(); ++i) {
    const DeviceTable& table = shared_.table.devices()[i];
    const DeviceId id{static_cast<std::uint32_t>(i)};
    if (!table.used || table.process != event.process || !MemoryOf(id).caching()) continue;
    figures_[id].retries_at_begin = MemoryOf(id).alloc_retries();
    figures_[id].ooms_at_begin = MemoryOf(id).ooms();
    NotePeaks(event, id);
    if (table.peak_tick == event.tick && table.live.bytes == table.peak.bytes) NoteAtPeak(id);
  }
}

void CachingFigures::NoteAtPeak(DeviceId id) {
  const DeviceMemory& memory = MemoryOf(id);
  Figures& figures = figures_[id];
  figures.active_at_peak = memory.active().all;
  figures.requested_at_peak = memory.requested_bytes();
  figures.reserved_at_peak = memory.reserved().all;
}

void CachingFigures::CloseWindow(const Event& event) {
  for (auto& [id, figures] : figures_) {
    const DeviceMemory& memory = MemoryOf(id);
    if (shared_.table.devices()[id.value].process != event.process || !memory.caching()) continue;
    figures.active_at_end = memory.active().all;
    figures.reserved_at_end = memory.reserved().all;
    figures.retries += memory.alloc_retries() - figures.retries_at_begin;
    figures.ooms += memory.ooms() - figures.ooms_at_begin;
    figures.caching = true;
  }
}

void CachingFigures::AddCompiled(const Block& block) {
  ++shared_.summary.compiled_allocations;
  shared_.summary.compiled_bytes += block.bytes;
  CompiledSums& compiled = figures_[block.device].compiled;
  ++compiled.allocations;
  compiled.bytes += block.bytes;
}

void CachingFigures::NoteOutOfMemory(const OutOfMemoryEvent& event) {
  steps_.NoteMemoryUse();
  shared_.table.device(event.asked->device, event.process);
  figures_[event.asked->device];
}

void CachingFigures::NoteStatistics(const DeviceStatisticsEvent& event) {
  shared_.table.device(event.device, event.process);
  figures_[event.device];
}

void CachingFigures::FillRow(DeviceId id, const DeviceTable& table, DeviceRow& row) const {
  const auto found = figures_.find(id);
  if (found == figures_.end()) return;
  const Figures& figures = found->second;
  row.compiled_allocations = figures.compiled.allocations;
  row.compiled_bytes = figures.compiled.bytes;
  row.caching = figures.caching;
  if (!row.caching) return;
  const auto ns = [&](Tick tick) { return tick == 0 ? 0 : shared_.replay().Nanoseconds(table.process, tick); };
  row.peak_active_bytes = figures.peak_active;
  row.peak_active_ns = ns(figures.peak_active_tick);
  row.peak_reserved_bytes = figures.peak_reserved;
  row.peak_reserved_ns = ns(figures.peak_reserved_tick);
  row.active_bytes_at_end = figures.active_at_end;
  row.reserved_bytes_at_end = figures.reserved_at_end;
  row.active_bytes_at_peak = figures.active_at_peak;
  row.requested_bytes_at_peak = figures.requested_at_peak;
  row.reserved_bytes_at_peak = figures.reserved_at_peak;
  row.num_alloc_retries = figures.retries;
  row.num_ooms = figures.ooms;
}

std::map<DeviceId, CompiledSums> CachingFigures::compiled() const {
  std::map<DeviceId, CompiledSums> compiled;
  for (const auto& [device, figures] : figures_) compiled[device] = figures.compiled;
  return compiled;
}

void CachingFigures::set_compiled(const std::map<DeviceId, CompiledSums>& compiled) {
  for (const auto& [device, sums] : compiled) figures_[device].compiled = sums;
}

}  // namespace memoir
