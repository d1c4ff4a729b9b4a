// Builds the event tree of a selection.
#ifndef TOOLS_ANALYZE_DATA_FLOW_TREE_BUILDER_H_
#define TOOLS_ANALYZE_DATA_FLOW_TREE_BUILDER_H_

#include "absl/status/statusor.h"
#include "tools/analyze/data_flow/event_tree.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/model/capture.h"

namespace memoir {

struct EventTreeOptions {
  bool parameters = true;     // the caller needs parameters, so module calls must have been recorded
  bool calls = false;         // include calls of Python functions
  bool device_calls = false;  // include CUDA calls and kernels, as torch.profiler's activity CUDA does
};
// Returns the tree of the first process in the selection. The tree contains all blocks of the process;
// EventTree::chosen marks the selected blocks. Returns NotFound if the recording does not contain the selection.
// Returns FailedPrecondition if the recording lacks information that torch.profiler's rules need (recording_check.h).
absl::StatusOr<EventTree> BuildEventTree(const Capture& capture, const Selection& selection,
                                         const EventTreeOptions& options = {});

}  // namespace memoir

#endif  // TOOLS_ANALYZE_DATA_FLOW_TREE_BUILDER_H_
