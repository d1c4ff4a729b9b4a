// The part of a summary that comes from keyframes: sums of parts that --max-size folded away.
//
// What a keyframe does not know by row (by thread, shape or range, or when operators share several devices) goes to one
// row, "(in evicted parts)", so that every column still sums to the devices' totals.
#include <algorithm>
#include <string>
#include <utility>

#include "tools/analyze/summary/summary_pass.h"
#include "tools/model/snapshots.h"

namespace memoir {
namespace {

// 0 where a damaged keyframe knows of less than was shown.
std::uint64_t Less(std::uint64_t whole, std::uint64_t shown) { return whole - std::min(whole, shown); }

Columns ColumnsOf(const Folded& folded) {
  Columns columns;
  columns.allocations = folded.allocations;
  columns.allocated_bytes = folded.allocated_bytes;
  columns.deallocated_bytes = folded.deallocated_bytes;
  return columns;
}

// At most `whole`: a damaged keyframe can say that a part is more, and sums would not close.
Columns Within(Columns part, const Columns& whole) {
  part.allocations = std::min(part.allocations, whole.allocations);
  part.allocated_bytes = std::min(part.allocated_bytes, whole.allocated_bytes);
  part.deallocated_bytes = std::min(part.deallocated_bytes, whole.deallocated_bytes);
  return part;
}

void TakeFrom(Columns& whole, const Columns& part) {
  whole.allocations -= part.allocations;
  whole.allocated_bytes -= part.allocated_bytes;
  whole.deallocated_bytes -= part.deallocated_bytes;
}

}  // namespace

Columns FoldedDevice::columns() const {
  Columns columns;
  columns.allocations = totals.allocations();
  columns.allocated_bytes = totals.allocated_bytes();
  columns.deallocations = totals.deallocations();
  columns.deallocated_bytes = totals.allocated_bytes() - std::min(totals.allocated_bytes(), totals.live_bytes());
  return columns;
}

void SummaryPass::OnKeyframe(const KeyframeEvent& event) {
  const bool has_sums = event.at_start || event.after_evicted;
  if (!has_sums || selection().window.kind != Window::Kind::kAll || selects_blocks()) return;
  if (IsSnapshot(capture())) return;  // it is of what is live: no sums of what came before
  FoldedProcess& folded = FoldedOf(event.process);
  FoldDevices(event, folded);
  FoldOperators(event, folded);
  summary_.events = std::max(summary_.events, process_begin_.events + event.keyframe->events_before());
  summary_.begin_ns = std::min(summary_.begin_ns, capture().processes()[event.process.value].start_ns);
  summary_.folded = true;
}

FoldedProcess& SummaryPass::FoldedOf(ProcessId process) {
  if (folded_.empty() || folded_.back().process != process) folded_.emplace_back().process = process;
  return folded_.back();
}

// A keyframe's sums are of all that came before: what was shown of it is taken off.
void SummaryPass::FoldDevices(const KeyframeEvent& event, FoldedProcess& folded) {
  for (const v1::DeviceTotals& totals : event.keyframe->devices()) {
    const DeviceId id = event.device_of(totals.device());
    if (!IsSelected(id)) continue;
    table_.device(id, event.process);  // it has a row, even if nothing of it is left
    FoldedDevice device{totals, state().Nanoseconds(event.process, totals.peak_tick())};
    const Columns shown = ShownOf(id), all = device.columns();
    device.totals.set_allocations(Less(all.allocations, shown.allocations));
    device.totals.set_allocated_bytes(Less(all.allocated_bytes, shown.allocated_bytes));
    device.totals.set_deallocations(Less(all.deallocations, shown.deallocations));
    device.totals.set_live_bytes(
        Less(device.totals.allocated_bytes(), Less(all.deallocated_bytes, shown.deallocated_bytes)));
    folded.devices[id] = std::move(device);
  }
}

void SummaryPass::FoldOperators(const KeyframeEvent& event, FoldedProcess& folded) {
  folded.operators.clear();
  std::uint64_t calls = 0;
  for (const v1::OperatorTotals& totals : event.keyframe->operators()) {
    Folded& sums = folded.operators[totals.name() == 0 ? NameId() : event.name_of(totals.name())];
    sums += {totals.count(), totals.outermost_count(), totals.allocations(), totals.allocated_bytes(),
             totals.deallocated_bytes()};
    calls += totals.count();
  }
  for (auto& [name, sums] : folded.operators) {
    const Folded shown = ShownOf(name, event.process);
    sums = {Less(sums.count, shown.count), Less(sums.outermost_count, shown.outermost_count),
            Less(sums.allocations, shown.allocations), Less(sums.allocated_bytes, shown.allocated_bytes),
            Less(sums.deallocated_bytes, shown.deallocated_bytes)};
  }
  summary_.operator_calls = std::max(summary_.operator_calls, process_begin_.operator_calls + calls);
  folded.operators_have_one_device = event.keyframe->devices_size() == 1;
}

Columns SummaryPass::ShownOf(DeviceId id) {
  Columns shown;
  for (const Cell& cell : table_.devices()[id.value].cells) shown += cell.columns;
  return shown;
}

Folded SummaryPass::ShownOf(NameId name, ProcessId process) {
  Folded shown;
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
    const Columns& columns = device.cells[cell].columns;
    shown += {0, 0, columns.allocations, columns.allocated_bytes, columns.deallocated_bytes};
  }
  if (const auto apart = apart_.find({process, name}); by_operator && apart != apart_.end()) shown += apart->second;
  if (!by_operator || !name.valid() || name.value >= calls_.size()) return shown;
  const Calls before = name.value < process_begin_.calls.size() ? process_begin_.calls[name.value] : Calls();
  shown.count = calls_[name.value].count - before.count;
  shown.outermost_count = calls_[name.value].outermost - before.outermost;
  return shown;
}

const FoldedDevice* SummaryPass::FoldedOf(DeviceId id) const {
  for (const FoldedProcess& process : folded_) {
    if (const auto found = process.devices.find(id); found != process.devices.end()) return &found->second;
  }
  return nullptr;
}

void SummaryPass::FinishFoldedDevice(const FoldedDevice& folded, DeviceRow& row) {
  row.folded_peak_bytes = folded.totals.peak_bytes();
  row.folded_peak_ns = folded.peak_ns;
  row.folded_allocations = folded.totals.allocations();
  row.folded_allocated_bytes = folded.totals.allocated_bytes();
  row.folded_deallocations = folded.totals.deallocations();
  row.folded_live_bytes = folded.totals.live_bytes();
  row.live_bytes_at_begin = 0;  // of the run
  if (folded.totals.peak_active_bytes() > row.peak_active_bytes) {
    row.peak_active_bytes = folded.totals.peak_active_bytes();
    row.peak_active_ns = 0;  // not known
  }
  if (folded.totals.peak_reserved_bytes() > row.peak_reserved_bytes) {
    row.peak_reserved_bytes = folded.totals.peak_reserved_bytes();
    row.peak_reserved_ns = 0;
  }
  // Of two equal peaks the later one counts: what was live at it is known.
  if (folded.totals.peak_bytes() <= row.peak_allocated_bytes) return;
  row.peak_is_folded = true;
  row.newest_peak_bytes = std::exchange(row.peak_allocated_bytes, folded.totals.peak_bytes());
  row.newest_peak_ns = std::exchange(row.peak_ns, folded.peak_ns);
  row.peak_blocks = 0;
  row.peak_operator.clear();
  row.peak_line = {};
  row.peak_range.clear();
  row.peak_step.reset();
}

std::size_t SummaryPass::ColumnOf(DeviceId id) const {
  return static_cast<std::size_t>(std::find(device_ids_.begin(), device_ids_.end(), id) - device_ids_.begin());
}

void SummaryPass::AddFolded(const FoldedProcess& folded) {
  std::map<DeviceId, Columns> rest;
  Columns rest_of_all;
  for (const auto& [id, device] : folded.devices) {
    DeviceRow& row = summary_.devices[ColumnOf(id)];
    Columns columns = device.columns();
    row.allocations += columns.allocations;
    row.allocated_bytes += columns.allocated_bytes;
    row.deallocations += columns.deallocations;
    row.deallocated_bytes += columns.deallocated_bytes;
    if (row.peak_is_folded) columns.bytes_at_peak = row.peak_allocated_bytes;
    rest[id] = columns;
    rest_of_all += columns;
  }
  AddFoldedOperators(folded, rest, rest_of_all);
  const bool none =
      std::all_of(rest.begin(), rest.end(), [](const auto& device) { return device.second == Columns(); });
  if (none && rest_of_all == Columns()) return;
  Row& row = grouping_.by() == GroupBy::kRank ? RowOf(folded.process.value + kFirstGroup)
                                              : RowOf(Row::Kind::kFolded, "(in evicted parts)");
  row.total += rest_of_all;
  for (const auto& [id, columns] : rest) row.by_device[ColumnOf(id)] += columns;
}

void SummaryPass::AddFoldedOperators(const FoldedProcess& folded, std::map<DeviceId, Columns>& rest,
                                     Columns& rest_of_all) {
  const bool by_operator = grouping_.by() == GroupBy::kOperator;
  const bool one_device = folded.operators_have_one_device && rest.size() == 1;
  for (const auto& [name, sums] : folded.operators) {
    if (!name.valid() && one_device)
      summary_.devices[ColumnOf(rest.begin()->first)].unattributed_bytes += sums.allocated_bytes;
    if (!by_operator) continue;
    Row& row = RowOf(name.valid() ? name.value + kFirstGroup : kNoneGroup);
    row.folded += sums;
    row.count += sums.count;
    row.outermost_count += sums.outermost_count;
    if (!one_device && selection().device) continue;  // who knows how much of it was on that device
    const Columns columns = Within(ColumnsOf(sums), rest_of_all);
    row.total += columns;
    TakeFrom(rest_of_all, columns);
    if (!one_device) continue;
    row.by_device[ColumnOf(rest.begin()->first)] += columns;
    TakeFrom(rest.begin()->second, columns);
  }
}

}  // namespace memoir
