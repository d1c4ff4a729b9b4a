// The part of a summary that orders its rows, and adds those of ranks that have none.
#include <algorithm>

#include "tools/analyze/summary/summary_pass.h"
#include "tools/model/job.h"

namespace memoir {

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
