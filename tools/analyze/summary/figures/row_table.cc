#include "tools/analyze/summary/figures/row_table.h"

#include <algorithm>

namespace memoir {
namespace {

constexpr double kMostTicks = 1e18;  // longer times occur only in damaged captures

}  // namespace

CellNumber& RowTable::CellAt(const Block& block) {
  if (block.slot == Block::kNoSlot) return cell_of_late_block_;
  if (block.slot >= cell_of_slot_.size()) cell_of_slot_.resize(block.slot + 1, kNotFollowed);
  return cell_of_slot_[block.slot];
}

void RowTable::NotePeak(DeviceTable& device, Tick tick) {
  if (device.live.bytes <= device.peak.bytes) return;
  device.peak = device.live;
  device.peak_tick = tick;
  ++device.peaks;
}

void RowTable::Add(const Block& block, ProcessId process, CellNumber number, bool counts, bool in_window, Tick tick) {
  DeviceTable& on = device(block.device, process);
  CellAt(block) = number;
  if (number >= on.cells.size()) on.cells.resize(number + 1);
  Cell& cell = on.cells[number];
  cell.at_peak.NoteBeforeChange(cell.live, on.peaks);
  cell.at_end.NoteBeforeChange(cell.live, on.ends);
  cell.live.bytes += block.bytes;
  cell.live.blocks += 1;
  on.live.bytes += block.bytes;
  on.live.blocks += 1;
  if (counts) {
    cell.columns.allocations += 1;
    cell.columns.allocated_bytes += block.bytes;
  }
  if (in_window && !counts) {  // the block comes from the keyframe with which the recording begins
    on.begin.bytes += block.bytes;
    on.begin.blocks += 1;
  }
  if (in_window) NotePeak(on, tick);
}

void RowTable::Remove(const Block& block, bool in_window, bool temporary, bool known, Tick tick) {
  const CellNumber number = std::exchange(CellAt(block), kNotFollowed);
  if (number == kNotFollowed) return;
  DeviceTable& on = devices_[block.device.value];
  Cell& cell = on.cells[number];
  cell.at_peak.NoteBeforeChange(cell.live, on.peaks);
  cell.at_end.NoteBeforeChange(cell.live, on.ends);
  cell.live.bytes -= block.bytes;
  cell.live.blocks -= 1;
  on.live.bytes -= block.bytes;
  on.live.blocks -= 1;
  if (!in_window) return;
  cell.columns.deallocations += 1;
  cell.columns.deallocated_bytes += block.bytes;
  cell.life_ticks += known && tick > block.tick ? tick - block.tick : 0;
  cell.unknown_lives += !known;
  if (!temporary || IsBefore(number)) return;
  cell.columns.temporaries += 1;
  cell.columns.temporary_bytes += block.bytes;
}

void RowTable::AddReserved(DeviceId id, ProcessId process, CellNumber cell, std::uint64_t bytes) {
  DeviceTable& on = device(id, process);
  if (cell >= on.cells.size()) on.cells.resize(cell + 1);
  on.cells[cell].columns.reserved_bytes += bytes;
}

TableChange RowTable::Sums() const {
  TableChange sums(devices_.size());
  for (std::size_t device = 0; device < devices_.size(); ++device) {
    for (const Cell& cell : devices_[device].cells)
      sums[device].push_back({cell.columns, cell.life_ticks, cell.unknown_lives});
  }
  return sums;
}

void RowTable::Add(const TableChange& change, Tick ticks, const RepeatedEvent& event) {
  const double longer = ticks == 0 ? 0 : static_cast<double>(event.ticks) / static_cast<double>(ticks);
  for (std::size_t device = 0; device < change.size(); ++device) {
    for (std::size_t i = 0; i < change[device].size(); ++i) {
      const CellChange& of_cycle = change[device][i];
      Cell& cell = devices_[device].cells[i];
      cell.columns.Add(of_cycle.columns, event.times);
      const double life_ticks = std::min(static_cast<double>(of_cycle.life_ticks) * longer, kMostTicks);
      cell.life_ticks += static_cast<std::uint64_t>(life_ticks);
      cell.unknown_lives += (ticks == 0 ? of_cycle.columns.deallocations : of_cycle.unknown_lives) * event.times;
    }
  }
}

void RowTable::OpenWindow(ProcessId process, Tick tick, bool first) {
  for (DeviceTable& device : devices_) {
    if (!device.used || device.process != process) continue;
    if (first) device.begin = device.live;
    NotePeak(device, tick);
  }
}

void RowTable::CloseWindow(ProcessId process) {
  for (DeviceTable& device : devices_) {
    if (!device.used || device.process != process) continue;
    device.end = device.live;
    ++device.ends;
  }
}

SummaryColumns RowTable::Finish(const Cell& cell, const DeviceTable& device, double ns_per_tick) {
  SummaryColumns columns = cell.columns;
  const LiveCount at_peak = cell.at_peak.ValueAsOf(cell.live, device.peaks);
  const LiveCount at_end = cell.at_end.ValueAsOf(cell.live, device.ends);
  columns.bytes_at_peak = at_peak.bytes;
  columns.blocks_at_peak = at_peak.blocks;
  columns.net_bytes = at_end.bytes;
  columns.net_blocks = at_end.blocks;
  columns.lives = columns.deallocations - cell.unknown_lives;
  columns.life_ns = static_cast<std::uint64_t>(static_cast<double>(cell.life_ticks) * ns_per_tick);
  return columns;
}

}  // namespace memoir
