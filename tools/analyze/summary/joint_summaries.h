// Makes summaries by several groupings, and runs other visitors, in one replay.
#ifndef TOOLS_ANALYZE_SUMMARY_JOINT_SUMMARIES_H_
#define TOOLS_ANALYZE_SUMMARY_JOINT_SUMMARIES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/categories/evidence/categorization.h"
#include "tools/analyze/grouping/grouping.h"
#include "tools/analyze/pass/joint_replays.h"
#include "tools/analyze/pass/task.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/analyze/summary/summary.h"
#include "tools/model/event/event.h"

namespace memoir {

// Returns a grouping by category, and the groupings `others`, which must not need categories or shapes. Needs one
// replay, for the categories. `own`: Selection::own.
Task<absl::StatusOr<std::vector<Grouping>>> MakeJointGroupings(SharedCategories& shared, std::vector<GroupBy> others,
                                                               std::string own);

// Returns a summary for each grouping, without out-of-memory errors. `more_visitors` take part in the same replay. All
// arguments must outlive the task.
Task<absl::StatusOr<std::vector<Summary>>> AnalyzeJointSummaries(JointReplays& replays, const Selection& selection,
                                                                 const std::vector<Grouping>& groupings,
                                                                 std::vector<Visitor*> more_visitors);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_JOINT_SUMMARIES_H_
