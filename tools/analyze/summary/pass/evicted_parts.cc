#include "tools/analyze/summary/pass/evicted_parts.h"

#include <algorithm>
#include <utility>

#include "tools/model/snapshot_trigger.h"

namespace memoir {
namespace {

// Returns `whole` minus `shown`. 0 if `shown` is larger, which happens only with a damaged keyframe.
std::uint64_t DifferenceOrZero(std::uint64_t whole, std::uint64_t shown) { return whole - std::min(whole, shown); }

}  // namespace

SummaryColumns EvictedDevice::columns() const {
  SummaryColumns columns;
  columns.allocations = totals.allocations();
  columns.allocated_bytes = totals.allocated_bytes();
  columns.deallocations = totals.deallocations();
  columns.deallocated_bytes = totals.allocated_bytes() - std::min(totals.allocated_bytes(), totals.live_bytes());
  return columns;
}

void EvictedParts::AddKeyframe(const KeyframeEvent& event) {
  const bool has_sums = event.at_start || event.after_evicted;
  if (!has_sums || shared_.selects_window() || shared_.window.selects_blocks()) return;
  if (IsSnapshot(shared_.window.capture())) return;  // a snapshot's keyframe has no sums of earlier events
  EvictedProcess& evicted = ProcessOf(event.process);
  TakeDevices(event, evicted);
  TakeOperators(event, evicted);
  events_.AddEvictedEvents(event.keyframe->events_before());
  times_.AddEvictedProcess(event.process);
  shared_.summary.is_partly_evicted = true;
}

EvictedProcess& EvictedParts::ProcessOf(ProcessId process) {
  if (processes_.empty() || processes_.back().process != process) processes_.emplace_back().process = process;
  return processes_.back();
}

// The sums of a keyframe cover all earlier events. Subtracts from them the events that were replayed.
void EvictedParts::TakeDevices(const KeyframeEvent& event, EvictedProcess& evicted) {
  for (const v1::DeviceTotals& totals : event.keyframe->devices()) {
    const DeviceId id = event.device_of(totals.device());
    if (!shared_.window.IsSelected(id)) continue;
    shared_.table.device(id, event.process);  // the device has a row, even if no event of it is left
    EvictedDevice device{totals, shared_.replay().Nanoseconds(event.process, totals.peak_tick())};
    const SummaryColumns shown = ShownOf(id), all = device.columns();
    device.totals.set_allocations(DifferenceOrZero(all.allocations, shown.allocations));
    device.totals.set_allocated_bytes(DifferenceOrZero(all.allocated_bytes, shown.allocated_bytes));
    device.totals.set_deallocations(DifferenceOrZero(all.deallocations, shown.deallocations));
    device.totals.set_live_bytes(DifferenceOrZero(device.totals.allocated_bytes(),
                                                  DifferenceOrZero(all.deallocated_bytes, shown.deallocated_bytes)));
    evicted.devices[id] = std::move(device);
  }
}

void EvictedParts::TakeOperators(const KeyframeEvent& event, EvictedProcess& evicted) {
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
  calls_.AddEvictedCalls(calls);
  evicted.operators_have_one_device = event.keyframe->devices_size() == 1;
}

SummaryColumns EvictedParts::ShownOf(DeviceId id) {
  SummaryColumns shown;
  for (const Cell& cell : shared_.table.devices()[id.value].cells) shown += cell.columns;
  return shown;
}

EvictedSums EvictedParts::ShownOf(NameId name, ProcessId process) {
  if (shared_.grouping.by() == GroupBy::kOperator) return ShownByOperator(name, process);
  EvictedSums shown;
  if (name.valid()) return shown;
  for (std::size_t id = 0; id < shared_.table.devices().size(); ++id) {
    const DeviceTable& device = shared_.table.devices()[id];
    if (device.used && device.process == process)
      shown.allocated_bytes += blocks_.UnattributedBytes(DeviceId{static_cast<std::uint32_t>(id)});
  }
  return shown;
}

EvictedSums EvictedParts::ShownByOperator(NameId name, ProcessId process) {
  EvictedSums shown;
  const CellNumber cell = CellOf(name.valid() ? name.value + kFirstGroup : kNoneGroup, false);
  for (const DeviceTable& device : shared_.table.devices()) {
    if (!device.used || device.process != process || cell >= device.cells.size()) continue;
    const SummaryColumns& columns = device.cells[cell].columns;
    shown += {0, 0, columns.allocations, columns.allocated_bytes, columns.deallocated_bytes};
  }
  shown += blocks_.WorkspaceSums(process, name);
  const Calls calls = calls_.InProcess(name);
  shown.count = calls.count;
  shown.outermost_count = calls.outermost;
  return shown;
}

const EvictedDevice* EvictedParts::DeviceOf(DeviceId id) const {
  for (const EvictedProcess& process : processes_) {
    if (const auto found = process.devices.find(id); found != process.devices.end()) return &found->second;
  }
  return nullptr;
}

}  // namespace memoir
