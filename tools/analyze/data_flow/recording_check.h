// Checks whether a recording contains the information that torch.profiler's rules need. torch.profiler requires
// record_shapes, profile_memory and with_stack. Memoir requires the operators above autograd, their tensors, and
// modules.
#ifndef TOOLS_ANALYZE_DATA_FLOW_RECORDING_CHECK_H_
#define TOOLS_ANALYZE_DATA_FLOW_RECORDING_CHECK_H_

#include "absl/status/status.h"
#include "tools/analyze/data_flow/event_tree.h"
#include "tools/model/capture.h"

namespace memoir {

// Returns FailedPrecondition if information is missing; the message names the missing information and how to record it.
// `tree.report` must be set. `parameters`: true if the rules also need parameters.
absl::Status CheckTreeIsRecorded(const Capture& capture, const EventTree& tree, bool parameters);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_DATA_FLOW_RECORDING_CHECK_H_
