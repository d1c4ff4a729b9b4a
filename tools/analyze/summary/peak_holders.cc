#include "tools/analyze/summary/peak_holders.h"

#include <utility>
#include <vector>

#include "tools/analyze/grouping/grouping.h"
#include "tools/analyze/lives/leak_causes.h"
#include "tools/analyze/summary/at_once.h"
#include "tools/analyze/summary/summary_errors.h"

namespace memoir {

absl::StatusOr<PeakHolders> AnalyzePeakHolders(const Capture& capture, const Selection& selection) {
  const Capture::SharedDecoding shared(capture);
  const absl::StatusOr<std::vector<Grouping>> groupings =
      GroupingsAtOnce(capture, selection, {GroupBy::kModule, GroupBy::kLine});
  if (!groupings.ok()) return groupings.status();
  LeakPass leaks(capture, selection, groupings->front().categories());
  absl::StatusOr<std::vector<Summary>> summaries = SummariesAtOnce(capture, selection, *groupings, {&leaks});
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
