#include "tools/analyze/summary/joint_summaries.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "tools/analyze/categories/evidence/categorization.h"
#include "tools/analyze/pass/visitor_group.h"
#include "tools/analyze/pass/window/windowed_visitor.h"
#include "tools/analyze/summary/summary_pass.h"

namespace memoir {

absl::StatusOr<std::vector<Grouping>> MakeJointGroupings(const Capture& capture, const Selection& selection,
                                                         const std::vector<GroupBy>& others) {
  absl::StatusOr<BlockCategories> categories = CategorizeBlocks(capture, ReplayOptionsFor(selection, true, false));
  if (!categories.ok()) return categories.status();
  LibraryWorkspaces workspaces;
  if (categories->rules.HasAny(IsOfLibrary)) {
    absl::StatusOr<LibraryWorkspaces> found = FindLibraryWorkspaces(capture, ReplayOptionsFor(selection, true, false));
    if (!found.ok()) return found.status();
    workspaces = *std::move(found);
  }
  std::vector<Grouping> groupings;
  groupings.push_back(Grouping::FromCategories(GroupBy::kCategory, *std::move(categories)));
  for (const GroupBy by : others) {
    groupings.push_back(Grouping::FromCategories(by, BlockCategories()));
    groupings.back().SeparateWorkspaces(workspaces);
  }
  return groupings;
}

absl::StatusOr<std::vector<Summary>> AnalyzeJointSummaries(const Capture& capture, const Selection& selection,
                                                           const std::vector<Grouping>& groupings,
                                                           const std::vector<Visitor*>& more_visitors) {
  std::deque<SummaryPass> passes;  // a deque, because `all` stores pointers to the passes
  std::vector<Visitor*> visitors;
  for (const Grouping& grouping : groupings) visitors.push_back(&passes.emplace_back(capture, selection, grouping));
  visitors.insert(visitors.end(), more_visitors.begin(), more_visitors.end());
  VisitorGroup all(visitors);
  ReplayOptions replay = ReplayOptionsFor(selection, false, true);
  replay.modules = true;
  const absl::StatusOr<ReplayReport> report = capture.Replay(all, replay);
  if (!report.ok()) return report.status();
  std::vector<Summary> summaries;
  for (std::size_t i = 0; i < passes.size(); ++i) {
    if (!passes[i].selection_status().ok()) return passes[i].selection_status();
    summaries.push_back(passes[i].TakeSummary());
    summaries.back().by = groupings[i].by();
    summaries.back().report = *report;
  }
  return summaries;
}

}  // namespace memoir
