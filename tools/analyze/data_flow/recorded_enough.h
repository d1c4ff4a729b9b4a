// Whether a recording has what torch.profiler's rules need. torch.profiler refuses without record_shapes,
// profile_memory and with_stack; Memoir without the operators above autograd, their tensors, and modules.
#ifndef TOOLS_ANALYZE_DATA_FLOW_RECORDED_ENOUGH_H_
#define TOOLS_ANALYZE_DATA_FLOW_RECORDED_ENOUGH_H_

#include "absl/status/status.h"
#include "tools/analyze/data_flow/event_tree.h"
#include "tools/model/capture.h"

namespace memoir {

// FailedPrecondition: what is missing, and how to record it. `tree` with its report; `parameters`: they have to be
// known.
absl::Status RecordedEnough(const Capture& capture, const EventTree& tree, bool parameters);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_DATA_FLOW_RECORDED_ENOUGH_H_
