// Builds the event tree of a stretch of a recording.
#ifndef TOOLS_ANALYZE_DATA_FLOW_TREE_BUILDER_H_
#define TOOLS_ANALYZE_DATA_FLOW_TREE_BUILDER_H_

#include "absl/status/statusor.h"
#include "tools/analyze/data_flow/event_tree.h"
#include "tools/analyze/pass/options.h"
#include "tools/model/capture.h"

namespace memoir {

// Of the first process of the selection, with all of its blocks: EventTree::chosen says which are asked for. NotFound:
// the selection does not occur. FailedPrecondition: its operators are those below autograd, or no ranges were recorded.
struct EventTreeOptions {
  bool parameters = true;     // what follows has to know them, so that calls of modules have to be recorded
  bool calls = false;         // of functions, too
  bool device_calls = false;  // with calls of CUDA and kernels, as torch.profiler's activity CUDA adds them
};
absl::StatusOr<EventTree> BuildEventTree(const Capture& capture, const Selection& selection,
                                         const EventTreeOptions& options = {});

}  // namespace memoir

#endif  // TOOLS_ANALYZE_DATA_FLOW_TREE_BUILDER_H_
