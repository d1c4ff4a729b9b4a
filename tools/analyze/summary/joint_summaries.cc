#include "tools/analyze/summary/joint_summaries.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "tools/analyze/pass/visitor_group.h"
#include "tools/analyze/summary/summary_pass.h"

namespace memoir {

Task<absl::StatusOr<std::vector<Grouping>>> MakeJointGroupings(SharedCategories& shared, std::vector<GroupBy> others,
                                                               std::string own) {
  const absl::StatusOr<KnownCategories>& categories = co_await shared.Find();
  if (!categories.ok()) co_return categories.status();
  std::vector<Grouping> groupings;
  groupings.push_back(Grouping::FromCategories(GroupBy::kCategory, *categories));
  for (const GroupBy by : others) {
    groupings.push_back(Grouping::Of(by, own));
    if (Grouping::SeparatesWorkspaces(by)) groupings.back().SeparateWorkspaces((*categories)->workspaces);
  }
  co_return groupings;
}

Task<absl::StatusOr<std::vector<Summary>>> AnalyzeJointSummaries(JointReplays& replays, const Selection& selection,
                                                                 const std::vector<Grouping>& groupings,
                                                                 std::vector<Visitor*> more_visitors) {
  std::deque<SummaryPass> passes;  // a deque, because `all` stores pointers to the passes
  std::vector<Visitor*> visitors;
  for (const Grouping& grouping : groupings)
    visitors.push_back(&passes.emplace_back(replays.capture(), selection, grouping));
  visitors.insert(visitors.end(), more_visitors.begin(), more_visitors.end());
  VisitorGroup all(visitors);
  const absl::StatusOr<ReplayReport> report = co_await replays.Next(all, {.first_seen = true, .modules = true});
  if (!report.ok()) co_return report.status();
  std::vector<Summary> summaries;
  for (std::size_t i = 0; i < passes.size(); ++i) {
    if (!passes[i].selection_status().ok()) co_return passes[i].selection_status();
    summaries.push_back(passes[i].TakeSummary());
    summaries.back().by = groupings[i].by();
    summaries.back().report = *report;
  }
  co_return summaries;
}

}  // namespace memoir
