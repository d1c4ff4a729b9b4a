#include "tools/analyze/summary/peak_owners.h"

#include <utility>
#include <vector>

#include "tools/analyze/grouping/grouping.h"
#include "tools/analyze/lives/leak_causes.h"
#include "tools/analyze/summary/joint_summaries.h"
#include "tools/analyze/summary/summary_errors.h"

namespace memoir {

absl::StatusOr<PeakOwners> AnalyzePeakOwners(const Capture& capture, const Selection& selection) {
  const Capture::SharedDecoding shared(capture);
  const absl::StatusOr<std::vector<Grouping>> groupings =
      MakeJointGroupings(capture, selection, {GroupBy::kModule, GroupBy::kLine});
  if (!groupings.ok()) return groupings.status();
  LeakPass leaks(capture, selection, groupings->front().categories());
  CopiedParametersPass copied(capture, selection, groupings->front().categories());
  absl::StatusOr<std::vector<Summary>> summaries =
      AnalyzeJointSummaries(capture, selection, *groupings, {&leaks, &copied});
  if (!summaries.ok()) return summaries.status();
  PeakOwners owners = {std::move((*summaries)[0]), std::move((*summaries)[1]), std::move((*summaries)[2]), leaks.Take(),
                       copied.Take()};
  if (const absl::Status status = AddLeakCauses(capture, selection, owners.leaks); !status.ok()) return status;
  Summary& first = owners.by_category;
  if (const absl::Status status = AddEndings(capture, selection, first); !status.ok()) return status;
  if (!RanOutOfMemory(first)) return owners;
  absl::Status added = AddOutOfMemory(capture, selection, first);
  if (added.ok()) added = AddCheckpointing(capture, selection, groupings->front().categories(), first);
  if (!added.ok()) return added;
  return owners;
}

}  // namespace memoir
