#include "tools/analyze/summary/rows/evicted_rows.h"

#include <algorithm>

namespace memoir {
namespace {

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

void EvictedRows::AddProcess(const EvictedProcess& evicted) {
  Rest rest = AddToDevices(evicted);
  AddToOperators(evicted, rest);
  const bool none = std::all_of(rest.by_device.begin(), rest.by_device.end(),
                                [](const auto& device) { return device.second == SummaryColumns(); });
  if (none && rest.of_all == SummaryColumns()) return;
  SummaryRow& row = shared_.grouping.by() == GroupBy::kRank
                        ? groups_.RowOf(evicted.process.value + kFirstGroup)
                        : groups_.RowOf(SummaryRow::Kind::kEvicted, "(in evicted parts)");
  row.total += rest.of_all;
  for (const auto& [id, columns] : rest.by_device) row.by_device[devices_.ColumnOf(id)] += columns;
}

EvictedRows::Rest EvictedRows::AddToDevices(const EvictedProcess& evicted) {
  Rest rest;
  for (const auto& [id, device] : evicted.devices) {
    DeviceRow& row = shared_.summary.devices[devices_.ColumnOf(id)];
    SummaryColumns columns = device.columns();
    row.allocations += columns.allocations;
    row.allocated_bytes += columns.allocated_bytes;
    row.deallocations += columns.deallocations;
    row.deallocated_bytes += columns.deallocated_bytes;
    if (row.peak_is_evicted) columns.bytes_at_peak = row.peak_allocated_bytes;
    rest.by_device[id] = columns;
    rest.of_all += columns;
  }
  return rest;
}

void EvictedRows::AddToOperators(const EvictedProcess& evicted, Rest& rest) {
  const bool by_operator = shared_.grouping.by() == GroupBy::kOperator;
  const bool one_device = evicted.operators_have_one_device && rest.by_device.size() == 1;
  for (const auto& [name, sums] : evicted.operators) {
    if (!name.valid() && one_device) {
      const std::size_t column = devices_.ColumnOf(rest.by_device.begin()->first);
      shared_.summary.devices[column].unattributed_bytes += sums.allocated_bytes;
    }
    if (!by_operator) continue;
    SummaryRow& row = groups_.RowOf(name.valid() ? name.value + kFirstGroup : kNoneGroup);
    row.evicted += sums;
    row.count += sums.count;
    row.outermost_count += sums.outermost_count;
    if (!one_device && shared_.window.selection().device) continue;  // the share of the selected device is unknown
    const SummaryColumns columns = Within(ColumnsOf(sums), rest.of_all);
    row.total += columns;
    TakeFrom(rest.of_all, columns);
    if (!one_device) continue;
    row.by_device[devices_.ColumnOf(rest.by_device.begin()->first)] += columns;
    TakeFrom(rest.by_device.begin()->second, columns);
  }
}

}  // namespace memoir
