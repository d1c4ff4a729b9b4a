// Makes summaries by several groupings, and runs other visitors, in one replay.
#ifndef TOOLS_ANALYZE_SUMMARY_JOINT_SUMMARIES_H_
#define TOOLS_ANALYZE_SUMMARY_JOINT_SUMMARIES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/grouping/grouping.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/analyze/summary/summary.h"
#include "tools/model/capture.h"
#include "tools/model/event/event.h"

namespace memoir {

// Returns a grouping by category, and the groupings `others`, which must not need categories. Runs one replay for the
// categories; on a GPU one more for library workspaces.
absl::StatusOr<std::vector<Grouping>> MakeJointGroupings(const Capture& capture, const Selection& selection,
                                                         const std::vector<GroupBy>& others);

// Returns a summary for each grouping, without out-of-memory errors. `more_visitors` take part in the same replay.
absl::StatusOr<std::vector<Summary>> AnalyzeJointSummaries(const Capture& capture, const Selection& selection,
                                                           const std::vector<Grouping>& groupings,
                                                           const std::vector<Visitor*>& more_visitors);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_JOINT_SUMMARIES_H_
