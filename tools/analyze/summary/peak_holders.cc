#include "tools/analyze/summary/peak_holders.h"

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "tools/analyze/grouping/grouping.h"
#include "tools/analyze/lives/leak_causes.h"
#include "tools/analyze/pass/visitor_group.h"
#include "tools/analyze/pass/windowed_visitor.h"
#include "tools/analyze/summary/summary_errors.h"
#include "tools/analyze/summary/summary_pass.h"

namespace memoir {
namespace {

// As PeakHolders has them.
absl::StatusOr<std::vector<Grouping>> Groupings(const Capture& capture, const Selection& selection) {
  absl::StatusOr<BlockCategories> categories = CategorizeBlocks(capture, ReplayOptionsFor(selection, true, false));
  if (!categories.ok()) return categories.status();
  LibraryWorkspaces workspaces;
  if (std::ranges::any_of(categories->rules, IsOfLibrary)) {
    absl::StatusOr<LibraryWorkspaces> found = FindLibraryWorkspaces(capture, ReplayOptionsFor(selection, true, false));
    if (!found.ok()) return found.status();
    workspaces = *std::move(found);
  }
  std::vector<Grouping> groupings;
  groupings.push_back(Grouping::Of(GroupBy::kCategory, *std::move(categories)));
  for (const GroupBy by : {GroupBy::kModule, GroupBy::kLine}) {
    groupings.push_back(Grouping::Of(by, BlockCategories()));
    groupings.back().SetApart(workspaces);
  }
  return groupings;
}

absl::StatusOr<std::vector<Summary>> Summaries(const Capture& capture, const Selection& selection,
                                               const std::vector<Grouping>& groupings, LeakPass& leaks) {
  std::deque<SummaryPass> passes;  // the group points at them
  std::vector<Visitor*> visitors;
  for (const Grouping& grouping : groupings) visitors.push_back(&passes.emplace_back(capture, selection, grouping));
  visitors.push_back(&leaks);
  VisitorGroup all(visitors);
  ReplayOptions replay = ReplayOptionsFor(selection, false, true);
  replay.modules = true;
  const absl::StatusOr<ReplayReport> report = capture.Replay(all, replay);
  if (!report.ok()) return report.status();
  std::vector<Summary> summaries;
  for (std::size_t i = 0; i < passes.size(); ++i) {
    if (!passes[i].found().ok()) return passes[i].found();
    summaries.push_back(passes[i].TakeSummary());
    summaries.back().by = groupings[i].by();
    summaries.back().report = *report;
  }
  return summaries;
}

}  // namespace

absl::StatusOr<PeakHolders> AnalyzePeakHolders(const Capture& capture, const Selection& selection) {
  const Capture::SharedDecoding shared(capture);
  const absl::StatusOr<std::vector<Grouping>> groupings = Groupings(capture, selection);
  if (!groupings.ok()) return groupings.status();
  LeakPass leaks(capture, selection, groupings->front().categories());
  absl::StatusOr<std::vector<Summary>> summaries = Summaries(capture, selection, *groupings, leaks);
  if (!summaries.ok()) return summaries.status();
  PeakHolders holders = {std::move((*summaries)[0]), std::move((*summaries)[1]), std::move((*summaries)[2]),
                         leaks.Take()};
  if (const absl::Status status = AddCauses(capture, selection, holders.leaks); !status.ok()) return status;
  Summary& first = holders.by_category;
  if (!RanOut(first)) return holders;
  absl::Status added = AddOutOfMemory(capture, selection, first);
  if (added.ok()) added = AddCheckpointing(capture, selection, groupings->front().categories(), first);
  if (!added.ok()) return added;
  return holders;
}

}  // namespace memoir
