// The part of SummaryPass that handles sums of evicted parts, from keyframes.
//
// A keyframe has sums of devices and of operators. If a grouping needs other sums (by thread, shape or range), or if
// the sums of operators cover several devices, the row "(in evicted parts)" has the sums. So every column sums to the
// devices' totals.
#include <algorithm>
#include <string>
#include <utility>

#include "tools/analyze/summary/summary_pass.h"
#include "tools/model/snapshot_trigger.h"

namespace memoir {
namespace {

// Returns 0 if `shown` exceeds `whole`, which happens only with a damaged keyframe.
std::uint64_t DifferenceOrZero(std::uint64_t whole, std::uint64_t shown) { return whole - std::min(whole, shown); }

SummaryColumns ColumnsOf(const EvictedSums& evicted) {
  SummaryColumns columns;
  columns.allocations = evicted.allocations;
  columns.allocated_bytes = evicted.allocated_bytes;
  columns.deallocated_bytes = evicted.deallocated_bytes;
  return columns;
}

// Limits `part` to `whole`: in a damaged keyframe a part may be larger, and rows would not sum to totals.
SummaryColumns Within(SummaryColumns part, const SummaryColumns& whole) {
  part.allocations = std::min(part.allocations, whole.allocations);
  part.allocated_bytes = std::min(part.allocated_bytes, whole.allocated_bytes);
  part.deallocated_bytes = std::min(part.deallocated_bytes, whole.deallocated_bytes);
  return part;
}

void TakeFrom(SummaryColumns& whole, const SummaryColumns& part) {
  whole.allocations -= part.allocations;
  whole.allocated_bytes -= part.allocated_bytes;
  whole.deallocated_bytes -= part.deallocated_bytes;
}

}  // namespace

SummaryColumns EvictedDevice::columns() const {
  SummaryColumns columns;
  columns.allocations = totals.allocations();
  columns.allocated_bytes = totals.allocated_bytes();
  columns.deallocations = totals.deallocations();
  columns.deallocated_bytes = totals.allocated_bytes() - std::min(totals.allocated_bytes(), totals.live_bytes());
  return columns;
}

void SummaryPass::OnKeyframe(const KeyframeEvent& event) {
  const bool has_sums = event.at_start || event.after_evicted;
  if (!has_sums || selection().window.kind != SelectionWindow::Kind::kAll || selects_blocks()) return;
  if (IsSnapshot(capture())) return;  // a snapshot's keyframe has no sums of earlier events
  EvictedProcess& evicted = EvictedOf(event.process);
  NoteEvictedDevices(event, evicted);
  NoteEvictedOperators(event, evicted);
  summary_.events = std::max(summary_.events, process_begin_.events + event.keyframe->events_before());
  summary_.begin_ns = std::min(summary_.begin_ns, capture().processes()[event.process.value].start_ns);
  summary_.is_partly_evicted = true;
}

EvictedProcess& SummaryPass::EvictedOf(ProcessId process) {
  if (evicted_.empty() || evicted_.back().process != process) evicted_.emplace_back().process = process;
  return evicted_.back();
}

// The sums of a keyframe cover all earlier events. Subtracts from them the events that were replayed.
void SummaryPass::NoteEvictedDevices(const KeyframeEvent& event, EvictedProcess& evicted) {
  for (const v1::DeviceTotals& totals : event.keyframe->devices()) {
    const DeviceId id = event.device_of(totals.device());
    if (!IsSelected(id)) continue;
    table_.device(id, event.process);  // the device has a row, even if no event of it is left
    EvictedDevice device{totals, state().Nanoseconds(event.process, totals.peak_tick())};
    const SummaryColumns shown = ShownOf(id), all = device.columns();
    device.totals.set_allocations(DifferenceOrZero(all.allocations, shown.allocations));
    device.totals.set_allocated_bytes(DifferenceOrZero(all.allocated_bytes, shown.allocated_bytes));
    device.totals.set_deallocations(DifferenceOrZero(all.deallocations, shown.deallocations));
    device.totals.set_live_bytes(DifferenceOrZero(device.totals.allocated_bytes(),
                                                  DifferenceOrZero(all.deallocated_bytes, shown.deallocated_bytes)));
    evicted.devices[id] = std::move(device);
  }
}

void SummaryPass::NoteEvictedOperators(const KeyframeEvent& event, EvictedProcess& evicted) {
  evicted.operators.clear();
  std::uint64_t calls = 0;
  for (const v1::OperatorTotals& totals : event.keyframe->operators()) {
    EvictedSums& sums = evicted.operators[totals.name() == 0 ? NameId() : event.name_of(totals.name())];
    sums += {totals.count(), totals.outermost_count(), totals.allocations(), totals.allocated_bytes(),
             totals.deallocated_bytes()};
    calls += totals.count();
  }
  for (auto& [name, sums] : evicted.operators) {
    const EvictedSums shown = ShownOf(name, event.process);
    sums = {DifferenceOrZero(sums.count, shown.count), DifferenceOrZero(sums.outermost_count, shown.outermost_count),
            DifferenceOrZero(sums.allocations, shown.allocations),
            DifferenceOrZero(sums.allocated_bytes, shown.allocated_bytes),
            DifferenceOrZero(sums.deallocated_bytes, shown.deallocated_bytes)};
  }
  summary_.operator_calls = std::max(summary_.operator_calls, process_begin_.operator_calls + calls);
  evicted.operators_have_one_device = event.keyframe->devices_size() == 1;
}

SummaryColumns SummaryPass::ShownOf(DeviceId id) {
  SummaryColumns shown;
  for (const Cell& cell : table_.devices()[id.value].cells) shown += cell.columns;
  return shown;
}

EvictedSums SummaryPass::ShownOf(NameId name, ProcessId process) {
  EvictedSums shown;
  const bool by_operator = grouping_.by() == GroupBy::kOperator;
  for (std::size_t id = 0; id < table_.devices().size(); ++id) {
    const DeviceTable& device = table_.devices()[id];
    if (!device.used || device.process != process) continue;
    if (!by_operator) {
      if (!name.valid()) shown.allocated_bytes += unattributed_[DeviceId{static_cast<std::uint32_t>(id)}];
      continue;
    }
    const Group group = name.valid() ? name.value + kFirstGroup : kNoneGroup;
    const CellNumber cell = CellOf(group, false);
    if (cell >= device.cells.size()) continue;
    const SummaryColumns& columns = device.cells[cell].columns;
    shown += {0, 0, columns.allocations, columns.allocated_bytes, columns.deallocated_bytes};
  }
  if (const auto apart = apart_.find({process, name}); by_operator && apart != apart_.end()) shown += apart->second;
  if (!by_operator || !name.valid() || name.value >= calls_.size()) return shown;
  const CallCounts before = name.value < process_begin_.calls.size() ? process_begin_.calls[name.value] : CallCounts();
  shown.count = calls_[name.value].count - before.count;
  shown.outermost_count = calls_[name.value].outermost - before.outermost;
  return shown;
}

const EvictedDevice* SummaryPass::EvictedOf(DeviceId id) const {
  for (const EvictedProcess& process : evicted_) {
    if (const auto found = process.devices.find(id); found != process.devices.end()) return &found->second;
  }
  return nullptr;
}

void SummaryPass::FinishEvictedDevice(const EvictedDevice& evicted, DeviceRow& row) {
  row.evicted_peak_bytes = evicted.totals.peak_bytes();
  row.evicted_peak_ns = evicted.peak_ns;
  row.evicted_allocations = evicted.totals.allocations();
  row.evicted_allocated_bytes = evicted.totals.allocated_bytes();
  row.evicted_deallocations = evicted.totals.deallocations();
  row.evicted_live_bytes = evicted.totals.live_bytes();
  row.live_bytes_at_begin = 0;  // at the begin of the run
  if (evicted.totals.peak_active_bytes() > row.peak_active_bytes) {
    row.peak_active_bytes = evicted.totals.peak_active_bytes();
    row.peak_active_ns = 0;  // unknown
  }
  if (evicted.totals.peak_reserved_bytes() > row.peak_reserved_bytes) {
    row.peak_reserved_bytes = evicted.totals.peak_reserved_bytes();
    row.peak_reserved_ns = 0;
  }
  // If the peak in the evicted parts equals the peak in the remaining parts, the peak in the remaining parts counts,
  // because its live blocks are known.
  if (evicted.totals.peak_bytes() <= row.peak_allocated_bytes) return;
  row.peak_is_evicted = true;
  row.newest_peak_bytes = std::exchange(row.peak_allocated_bytes, evicted.totals.peak_bytes());
  row.newest_peak_ns = std::exchange(row.peak_ns, evicted.peak_ns);
  row.peak_blocks = 0;
  row.peak_operator.clear();
  row.peak_line = {};
  row.peak_range.clear();
  row.peak_module.clear();
  row.peak_step.reset();
}

std::size_t SummaryPass::ColumnOf(DeviceId id) const {
  return static_cast<std::size_t>(std::find(device_ids_.begin(), device_ids_.end(), id) - device_ids_.begin());
}

void SummaryPass::AddEvicted(const EvictedProcess& evicted) {
  std::map<DeviceId, SummaryColumns> rest;
  SummaryColumns rest_of_all;
  for (const auto& [id, device] : evicted.devices) {
    DeviceRow& row = summary_.devices[ColumnOf(id)];
    SummaryColumns columns = device.columns();
    row.allocations += columns.allocations;
    row.allocated_bytes += columns.allocated_bytes;
    row.deallocations += columns.deallocations;
    row.deallocated_bytes += columns.deallocated_bytes;
    if (row.peak_is_evicted) columns.bytes_at_peak = row.peak_allocated_bytes;
    rest[id] = columns;
    rest_of_all += columns;
  }
  AddEvictedOperators(evicted, rest, rest_of_all);
  const bool none =
      std::all_of(rest.begin(), rest.end(), [](const auto& device) { return device.second == SummaryColumns(); });
  if (none && rest_of_all == SummaryColumns()) return;
  SummaryRow& row = grouping_.by() == GroupBy::kRank ? RowOf(evicted.process.value + kFirstGroup)
                                                     : RowOf(SummaryRow::Kind::kEvicted, "(in evicted parts)");
  row.total += rest_of_all;
  for (const auto& [id, columns] : rest) row.by_device[ColumnOf(id)] += columns;
}

void SummaryPass::AddEvictedOperators(const EvictedProcess& evicted, std::map<DeviceId, SummaryColumns>& rest,
                                      SummaryColumns& rest_of_all) {
  const bool by_operator = grouping_.by() == GroupBy::kOperator;
  const bool one_device = evicted.operators_have_one_device && rest.size() == 1;
  for (const auto& [name, sums] : evicted.operators) {
    if (!name.valid() && one_device)
      summary_.devices[ColumnOf(rest.begin()->first)].unattributed_bytes += sums.allocated_bytes;
    if (!by_operator) continue;
    SummaryRow& row = RowOf(name.valid() ? name.value + kFirstGroup : kNoneGroup);
    row.evicted += sums;
    row.count += sums.count;
    row.outermost_count += sums.outermost_count;
    if (!one_device && selection().device) continue;  // the share of the selected device is unknown
    const SummaryColumns columns = Within(ColumnsOf(sums), rest_of_all);
    row.total += columns;
    TakeFrom(rest_of_all, columns);
    if (!one_device) continue;
    row.by_device[ColumnOf(rest.begin()->first)] += columns;
    TakeFrom(rest.begin()->second, columns);
  }
}

}  // namespace memoir
