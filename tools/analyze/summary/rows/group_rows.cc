#include "tools/analyze/summary/rows/group_rows.h"

namespace memoir {

SummaryRow& GroupRows::RowOf(Group group, bool before) {
  constexpr std::size_t kUnknown = ~std::size_t{0};
  std::vector<SummaryRow>& rows = shared_.summary.rows;
  const CellNumber cell = CellOf(group, before);
  if (cell >= row_of_cell_.size()) row_of_cell_.resize(cell + 1, kUnknown);
  if (row_of_cell_[cell] != kUnknown) return rows[row_of_cell_[cell]];
  const Grouping& grouping = shared_.grouping;
  const Capture& capture = shared_.window.capture();
  const std::string then = before && group != kBeforeGroup ? std::string(" ") + kBeforeLabel : "";
  SummaryRow& row = RowOf(KindOf(group, before), grouping.Label(group, capture, shared_.dictionary()) + then,
                          grouping.Key(group, capture, shared_.dictionary()) + then);
  row_of_cell_[cell] = static_cast<std::size_t>(&row - rows.data());
  FillFacts(group, row);
  return row;
}

SummaryRow& GroupRows::RowOf(SummaryRow::Kind kind, std::string name, std::string key) {
  std::vector<SummaryRow>& rows = shared_.summary.rows;
  if (key.empty()) key = name;
  const auto [known, added] = row_of_label_.try_emplace({kind, std::move(key)}, rows.size());
  if (added) {
    SummaryRow row;
    row.name = std::move(name);
    row.kind = kind;
    row.by_device.resize(shared_.summary.devices.size());
    rows.push_back(std::move(row));
  }
  return rows[known->second];
}

SummaryRow::Kind GroupRows::KindOf(Group group, bool before) const {
  if (before) return SummaryRow::Kind::kBefore;
  if (shared_.grouping.IsNone(group)) return SummaryRow::Kind::kNone;
  return shared_.grouping.IsWorkspace(group) ? SummaryRow::Kind::kWorkspace : SummaryRow::Kind::kNamed;
}

void GroupRows::FillFacts(Group group, SummaryRow& row) const {
  const Grouping& grouping = shared_.grouping;
  row.source = grouping.LineOf(group, shared_.dictionary());
  row.via = grouping.ViaOf(group);
  if (row.kind != SummaryRow::Kind::kNamed) return;
  if (NeedsCategories(grouping.by()) && grouping.by() != GroupBy::kParameter) {
    const Rule& rule = Rules()[grouping.CategoryOfGroup(group)];
    row.category = NameOf(rule.kept);
    row.detail = rule.detail;
  }
  if (grouping.by() == GroupBy::kParameter) {
    row.parameter.is_buffer = grouping.ParameterOf(group).is_buffer;
    row.parameter.root = grouping.ParameterOf(group).root;
  }
  if (grouping.by() != GroupBy::kModule) return;
  const Module& module = shared_.dictionary().module(Grouping::ModuleOf(group).module);
  row.module.root = module.root;
  row.module.path = module.path;
  row.module.class_name = module.class_name;
}

}  // namespace memoir
