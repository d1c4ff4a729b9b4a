// The part of a summary that finishes its rows: adds calls and what has none, and orders them.
#include <algorithm>

#include "tools/analyze/summary/summary_pass.h"
#include "tools/model/job.h"

namespace memoir {

void SummaryPass::FinishRows() {
  for (std::size_t i = 0; i < device_ids_.size(); ++i) AddCells(table_.devices()[device_ids_[i].value], i);
  for (std::uint32_t name = 0; name < calls_.size(); ++name) {
    if (calls_[name].count == 0) continue;
    Row& row = grouping_.by() == GroupBy::kModule ? RowOf(Grouping::OfModule(ModuleId{name}, Phase::kForward))
                                                  : RowOf(name + kFirstGroup);
    row.count += calls_[name].count;
    row.outermost_count += calls_[name].outermost;
  }
  for (const FoldedProcess& folded : folded_) AddFolded(folded);
  if (grouping_.by() == GroupBy::kRank) AddQuietRanks();
  for (const Row& row : summary_.rows) {
    if (row.kind == Row::Kind::kFolded) summary_.phases[static_cast<std::size_t>(Phase::kOther)] += row.total;
  }
  SortRows();
  summary_.missing = grouping_.Missing(state().dictionary());
}

// A rank that allocated nothing is there all the same.
void SummaryPass::AddQuietRanks() {
  for (const ProcessSummary& process : capture().processes()) {
    const bool selected = !selection().rank || process.rank() == selection().rank;
    if (selected && !IsIdle(capture(), process.id)) RowOf(Row::Kind::kNamed, RankLabel(process));
  }
}

void SummaryPass::SortRows() {
  std::sort(summary_.rows.begin(), summary_.rows.end(), [](const Row& a, const Row& b) {
    if ((a.kind == Row::Kind::kNamed) != (b.kind == Row::Kind::kNamed)) return a.kind == Row::Kind::kNamed;
    if (a.total.allocated_bytes != b.total.allocated_bytes) return a.total.allocated_bytes > b.total.allocated_bytes;
    if (a.count != b.count) return a.count > b.count;
    return a.name < b.name;
  });
}

}  // namespace memoir
