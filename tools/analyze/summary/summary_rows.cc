// The part of SummaryPass that makes rows. At the end it adds calls, and rows without memory, and sorts the rows.
#include <algorithm>
#include <utility>

#include "tools/analyze/summary/summary_pass.h"
#include "tools/model/job.h"

namespace memoir {

SummaryRow& SummaryPass::RowOf(Group group, bool before) {
  constexpr std::size_t kUnknown = ~std::size_t{0};
  const CellNumber cell = CellOf(group, before);
  if (cell >= row_of_cell_.size()) row_of_cell_.resize(cell + 1, kUnknown);
  if (row_of_cell_[cell] != kUnknown) return summary_.rows[row_of_cell_[cell]];
  const SummaryRow::Kind kind = before                         ? SummaryRow::Kind::kBefore
                                : grouping_.IsNone(group)      ? SummaryRow::Kind::kNone
                                : grouping_.IsWorkspace(group) ? SummaryRow::Kind::kWorkspace
                                                               : SummaryRow::Kind::kNamed;
  const std::string then = before && group != kBeforeGroup ? std::string(" ") + kBeforeLabel : "";
  SummaryRow& row = RowOf(kind, grouping_.Label(group, capture(), state().dictionary()) + then,
                          grouping_.Key(group, capture(), state().dictionary()) + then);
  row_of_cell_[cell] = static_cast<std::size_t>(&row - summary_.rows.data());
  row.source = grouping_.LineOf(group, state().dictionary());
  row.via = grouping_.ViaOf(group);
  if (kind != SummaryRow::Kind::kNamed) return row;
  if (NeedsCategories(grouping_.by()) && grouping_.by() != GroupBy::kParameter) {
    const Rule& rule = Rules()[grouping_.CategoryOfGroup(group)];
    row.category = NameOf(rule.kept);
    row.detail = rule.detail;
  }
  if (grouping_.by() == GroupBy::kParameter) {
    row.parameter.is_buffer = grouping_.ParameterOf(group).is_buffer;
    row.parameter.root = grouping_.ParameterOf(group).root;
  }
  if (grouping_.by() != GroupBy::kModule) return row;
  const Module& module = state().dictionary().module(Grouping::ModuleOf(group).module);
  row.module.root = module.root;
  row.module.path = module.path;
  row.module.class_name = module.class_name;
  return row;
}

// `key` distinguishes rows with the same name. Empty: only the name counts.
SummaryRow& SummaryPass::RowOf(SummaryRow::Kind kind, std::string name, std::string key) {
  if (key.empty()) key = name;
  const auto [known, added] = row_of_label_.try_emplace({kind, std::move(key)}, summary_.rows.size());
  if (added) {
    SummaryRow row;
    row.name = std::move(name);
    row.kind = kind;
    row.by_device.resize(summary_.devices.size());
    summary_.rows.push_back(std::move(row));
  }
  return summary_.rows[known->second];
}

void SummaryPass::AddCells(DeviceTable& table, std::size_t column) {
  DeviceRow& device = summary_.devices[column];
  for (CellNumber cell = 0; cell < table.cells.size(); ++cell) {
    const Group group = GroupOf(cell);
    SummaryColumns columns = RowTable::Finish(table.cells[cell], table, ns_per_tick_[table.process.value]);
    // The device's peak is in evicted parts, and these bytes were live at another peak.
    if (device.peak_is_evicted) columns.bytes_at_peak = columns.blocks_at_peak = 0;
    if (columns == SummaryColumns()) continue;
    SummaryRow& row = RowOf(group, IsBefore(cell));
    row.by_device[column] += columns;
    row.total += columns;
    if (grouping_.by() == GroupBy::kModule) {
      const auto phase = static_cast<std::size_t>(Grouping::ModuleOf(group).phase);
      row.module.by_phase[phase] += columns;
      row.module.by_device.resize(summary_.devices.size());
      row.module.by_device[column][phase] += columns;
      summary_.phases[phase] += columns;
    }
    if (row.kind == SummaryRow::Kind::kNamed && grouping_.by() == GroupBy::kParameter) {
      const auto part = static_cast<std::size_t>(grouping_.PartOf(group));
      row.parameter.by_part[part] += columns;
      row.parameter.by_device.resize(summary_.devices.size());
      row.parameter.by_device[column][part] += columns;
    }
    device.allocations += columns.allocations;
    device.allocated_bytes += columns.allocated_bytes;
    device.deallocations += columns.deallocations;
    device.deallocated_bytes += columns.deallocated_bytes;
  }
  device.unattributed_bytes += unattributed_[device_ids_[column]];
}

void SummaryPass::FinishRows() {
  for (std::size_t i = 0; i < device_ids_.size(); ++i) AddCells(table_.devices()[device_ids_[i].value], i);
  for (std::uint32_t name = 0; name < calls_.size(); ++name) {
    if (calls_[name].count == 0) continue;
    SummaryRow& row = grouping_.by() == GroupBy::kModule
                          ? RowOf(Grouping::GroupOfModule(ModuleId{name}, Phase::kForward))
                          : RowOf(name + kFirstGroup);
    row.count += calls_[name].count;
    row.outermost_count += calls_[name].outermost;
  }
  for (const EvictedProcess& evicted : evicted_) AddEvicted(evicted);
  if (grouping_.by() == GroupBy::kRank) AddQuietRanks();
  for (const SummaryRow& row : summary_.rows) {
    if (row.kind == SummaryRow::Kind::kEvicted) summary_.phases[static_cast<std::size_t>(Phase::kOther)] += row.total;
  }
  SortRows();
  summary_.missing = grouping_.Missing(state().dictionary());
}

// Adds the ranks that allocated nothing.
void SummaryPass::AddQuietRanks() {
  for (const ProcessSummary& process : capture().processes()) {
    const bool selected = !selection().rank || process.rank() == selection().rank;
    if (selected && !IsIdle(capture(), process.id)) RowOf(SummaryRow::Kind::kNamed, RankLabel(process));
  }
}

void SummaryPass::SortRows() {
  std::sort(summary_.rows.begin(), summary_.rows.end(), [](const SummaryRow& a, const SummaryRow& b) {
    if ((a.kind == SummaryRow::Kind::kNamed) != (b.kind == SummaryRow::Kind::kNamed))
      return a.kind == SummaryRow::Kind::kNamed;
    if (a.total.allocated_bytes != b.total.allocated_bytes) return a.total.allocated_bytes > b.total.allocated_bytes;
    if (a.count != b.count) return a.count > b.count;
    return a.name < b.name;
  });
}

}  // namespace memoir
