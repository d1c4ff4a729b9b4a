#include "tools/analyze/summary/rows/summary_rows.h"

#include <algorithm>
#include <vector>

#include "tools/analyze/summary/rows/evicted_rows.h"
#include "tools/model/job.h"

namespace memoir {

void SummaryRows::AddRows() {
  devices_.AddRows();
  for (std::size_t i = 0; i < devices_.ids().size(); ++i) AddCells(shared_.table.devices()[devices_.ids()[i].value], i);
  AddCalls();
  AddEvicted();
  if (shared_.grouping.by() == GroupBy::kRank) AddQuietRanks();
  Summary& summary = shared_.summary;
  for (const SummaryRow& row : summary.rows) {
    if (row.kind == SummaryRow::Kind::kEvicted) summary.phases[static_cast<std::size_t>(Phase::kOther)] += row.total;
  }
  SortRows();
  summary.missing = shared_.grouping.Missing(shared_.dictionary());
}

void SummaryRows::AddCells(const DeviceTable& table, std::size_t column) {
  DeviceRow& device = shared_.summary.devices[column];
  for (CellNumber cell = 0; cell < table.cells.size(); ++cell) {
    SummaryColumns columns = RowTable::Finish(table.cells[cell], table, handlers_.times.ns_per_tick(table.process));
    // If the device's peak is in evicted parts, these bytes were live at another peak.
    if (device.peak_is_evicted) columns.bytes_at_peak = columns.blocks_at_peak = 0;
    if (columns == SummaryColumns()) continue;
    AddColumns(cell, column, columns);
    device.allocations += columns.allocations;
    device.allocated_bytes += columns.allocated_bytes;
    device.deallocations += columns.deallocations;
    device.deallocated_bytes += columns.deallocated_bytes;
  }
  device.unattributed_bytes += handlers_.blocks.UnattributedBytes(devices_.ids()[column]);
}

// Adds the columns of a cell to its row.
void SummaryRows::AddColumns(CellNumber cell, std::size_t column, const SummaryColumns& columns) {
  const Group group = GroupOf(cell);
  const GroupBy by = shared_.grouping.by();
  Summary& summary = shared_.summary;
  SummaryRow& row = groups_.RowOf(group, IsBefore(cell));
  row.by_device[column] += columns;
  row.total += columns;
  if (by == GroupBy::kModule) {
    const auto phase = static_cast<std::size_t>(Grouping::ModuleOf(group).phase);
    row.module.by_phase[phase] += columns;
    row.module.by_device.resize(summary.devices.size());
    row.module.by_device[column][phase] += columns;
    summary.phases[phase] += columns;
  }
  if (row.kind == SummaryRow::Kind::kNamed && by == GroupBy::kParameter) {
    const auto part = static_cast<std::size_t>(shared_.grouping.PartOf(group));
    row.parameter.by_part[part] += columns;
    row.parameter.by_device.resize(summary.devices.size());
    row.parameter.by_device[column][part] += columns;
  }
}

void SummaryRows::AddCalls() {
  const std::vector<Calls>& calls = handlers_.calls.calls();
  for (std::uint32_t name = 0; name < calls.size(); ++name) {
    if (calls[name].count == 0) continue;
    SummaryRow& row = shared_.grouping.by() == GroupBy::kModule
                          ? groups_.RowOf(Grouping::GroupOfModule(ModuleId{name}, Phase::kForward))
                          : groups_.RowOf(name + kFirstGroup);
    row.count += calls[name].count;
    row.outermost_count += calls[name].outermost;
  }
}

void SummaryRows::AddEvicted() {
  EvictedRows rows(shared_, devices_, groups_);
  for (const EvictedProcess& evicted : handlers_.evicted.processes()) rows.AddProcess(evicted);
}

// Adds the ranks that allocated nothing.
void SummaryRows::AddQuietRanks() {
  const Capture& capture = shared_.window.capture();
  const Selection& selection = shared_.window.selection();
  for (const ProcessSummary& process : capture.processes()) {
    const bool selected = !selection.rank || process.rank() == selection.rank;
    if (selected && !IsIdle(capture, process.id)) groups_.RowOf(SummaryRow::Kind::kNamed, RankLabel(process));
  }
}

void SummaryRows::SortRows() {
  std::vector<SummaryRow>& rows = shared_.summary.rows;
  std::sort(rows.begin(), rows.end(), [](const SummaryRow& a, const SummaryRow& b) {
    if ((a.kind == SummaryRow::Kind::kNamed) != (b.kind == SummaryRow::Kind::kNamed))
      return a.kind == SummaryRow::Kind::kNamed;
    if (a.total.allocated_bytes != b.total.allocated_bytes) return a.total.allocated_bytes > b.total.allocated_bytes;
    if (a.count != b.count) return a.count > b.count;
    return a.name < b.name;
  });
}

}  // namespace memoir
