// Summaries by several groupings, and what else looks at a recording, in one replay.
#ifndef TOOLS_ANALYZE_SUMMARY_AT_ONCE_H_
#define TOOLS_ANALYZE_SUMMARY_AT_ONCE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/grouping/grouping.h"
#include "tools/analyze/pass/options.h"
#include "tools/analyze/summary/summary.h"
#include "tools/model/capture.h"
#include "tools/model/event.h"

namespace memoir {

// By category, and by these, which need no categories. One replay for the categories; on a GPU one more for libraries'
// workspaces.
absl::StatusOr<std::vector<Grouping>> GroupingsAtOnce(const Capture& capture, const Selection& selection,
                                                      const std::vector<GroupBy>& others);

// A summary of each, without out-of-memory errors; `beside`: who sees the same events.
absl::StatusOr<std::vector<Summary>> SummariesAtOnce(const Capture& capture, const Selection& selection,
                                                     const std::vector<Grouping>& groupings,
                                                     const std::vector<Visitor*>& beside);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_AT_ONCE_H_
