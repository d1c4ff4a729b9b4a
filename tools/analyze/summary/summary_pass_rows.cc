// The rows of the pass behind AnalyzeSummary.
#include <algorithm>
#include <utility>

#include "tools/analyze/summary/summary_pass.h"

namespace memoir {

Row& SummaryPass::RowOf(Group group, bool before) {
  constexpr std::size_t kUnknown = ~std::size_t{0};
  const CellNumber cell = CellOf(group, before);
  if (cell >= row_of_cell_.size()) row_of_cell_.resize(cell + 1, kUnknown);
  if (row_of_cell_[cell] != kUnknown) return summary_.rows[row_of_cell_[cell]];
  const Row::Kind kind = before                         ? Row::Kind::kBefore
                         : grouping_.IsNone(group)      ? Row::Kind::kNone
                         : grouping_.IsWorkspace(group) ? Row::Kind::kWorkspace
                                                        : Row::Kind::kNamed;
  const std::string then = before && group != kBeforeGroup ? std::string(" ") + kBeforeLabel : "";
  Row& row = RowOf(kind, grouping_.Label(group, capture(), state().dictionary()) + then,
                   grouping_.Key(group, capture(), state().dictionary()) + then);
  row_of_cell_[cell] = static_cast<std::size_t>(&row - summary_.rows.data());
  row.source = grouping_.LineOf(group, state().dictionary());
  row.via = grouping_.ViaOf(group);
  if (kind != Row::Kind::kNamed) return row;
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

// `key`: what tells it from rows of the same name; "": nothing.
Row& SummaryPass::RowOf(Row::Kind kind, std::string name, std::string key) {
  if (key.empty()) key = name;
  const auto [known, added] = row_of_label_.try_emplace({kind, std::move(key)}, summary_.rows.size());
  if (added) {
    Row row;
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
    Columns columns = RowTable::Finish(table.cells[cell], table, ns_per_tick_[table.process.value]);
    if (device.peak_is_folded) columns.bytes_at_peak = columns.blocks_at_peak = 0;  // it was at another peak
    if (columns == Columns()) continue;
    Row& row = RowOf(group, IsBefore(cell));
    row.by_device[column] += columns;
    row.total += columns;
    if (grouping_.by() == GroupBy::kModule) {
      const auto phase = static_cast<std::size_t>(Grouping::ModuleOf(group).phase);
      row.module.by_phase[phase] += columns;
      row.module.by_device.resize(summary_.devices.size());
      row.module.by_device[column][phase] += columns;
      summary_.phases[phase] += columns;
    }
    if (row.kind == Row::Kind::kNamed && grouping_.by() == GroupBy::kParameter) {
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

}  // namespace memoir
