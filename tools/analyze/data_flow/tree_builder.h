// Builds the event tree of a stretch of a recording.
#ifndef TOOLS_ANALYZE_DATA_FLOW_TREE_BUILDER_H_
#define TOOLS_ANALYZE_DATA_FLOW_TREE_BUILDER_H_

#include "absl/status/statusor.h"
#include "tools/analyze/data_flow/event_tree.h"
#include "tools/analyze/pass/options.h"
#include "tools/model/capture.h"

namespace memoir {

// Of the first process of the selection. NotFound: the selection does not occur. FailedPrecondition: its operators are
// those below autograd, or no ranges were recorded.
// `parameters`: what follows has to know them, so that calls of modules have to be recorded. `calls`: of functions too.
absl::StatusOr<EventTree> BuildEventTree(const Capture& capture, const Selection& selection, bool parameters = true,
                                         bool calls = false);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_DATA_FLOW_TREE_BUILDER_H_
