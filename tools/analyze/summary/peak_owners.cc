#include "tools/analyze/summary/peak_owners.h"

#include <utility>
#include <vector>

#include "tools/analyze/grouping/grouping.h"
#include "tools/analyze/lives/leak_causes.h"
#include "tools/analyze/summary/joint_summaries.h"
#include "tools/analyze/summary/summary_additions.h"

namespace memoir {
namespace {

Task<absl::StatusOr<PeakOwners>> FindPeakOwners(SharedCategories& shared, Selection selection) {
  JointReplays& replays = shared.replays();
  const Capture& capture = replays.capture();
  SummaryAdditions additions(shared, selection, {SummaryAdditions::Checkpoints::kAfterErrors, true, true});
  const Task<absl::StatusOr<std::vector<Grouping>>> make_groupings =
      MakeJointGroupings(shared, {GroupBy::kModule, GroupBy::kLine}, "");
  additions.Start(co_await LookForFailures(replays));
  const absl::StatusOr<std::vector<Grouping>>& groupings = co_await make_groupings;
  if (!groupings.ok()) co_return groupings.status();
  LeakPass leaks(capture, selection, groupings->front().categories());
  CopiedParametersPass copied(capture, selection, groupings->front().categories());
  const std::vector<Visitor*> more_visitors = {&leaks, &copied};
  absl::StatusOr<std::vector<Summary>> summaries =
      co_await AnalyzeJointSummaries(replays, selection, *groupings, more_visitors);
  if (!summaries.ok()) co_return summaries.status();
  PeakOwners owners = {std::move((*summaries)[0]), std::move((*summaries)[1]), std::move((*summaries)[2]), leaks.Take(),
                       copied.Take()};
  const Task<absl::Status> add_causes = AddLeakCauses(replays, selection, owners.leaks);
  const absl::Status added = co_await additions.AddTo(owners.by_category);
  if (const absl::Status& causes = co_await add_causes; !causes.ok()) co_return causes;
  if (!added.ok()) co_return added;
  co_return owners;
}

}  // namespace

absl::StatusOr<PeakOwners> AnalyzePeakOwners(const Capture& capture, const Selection& selection) {
  JointReplays replays(capture, selection);
  SharedCategories categories(replays);
  return replays.Finish(FindPeakOwners(categories, selection));
}

}  // namespace memoir
