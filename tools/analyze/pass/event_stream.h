// Passes every event of a selection to a visitor, for exports. Does the same as Capture::Replay, but only for the
// selected times, devices, ranks and blocks.
#ifndef TOOLS_ANALYZE_PASS_EVENT_STREAM_H_
#define TOOLS_ANALYZE_PASS_EVENT_STREAM_H_

#include <functional>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/model/capture.h"

namespace memoir {

struct EventStreamOptions : Selection {
  bool tensors = true;          // see ReplayOptions::tensors
  std::function<bool()> go_on;  // see ReplayOptions::go_on; may be empty
};

// `visitor` receives the events of the selection. The DeallocateEvent of a block can be in the selection although its
// AllocateEvent is not.
absl::StatusOr<ReplayReport> StreamEvents(const Capture& capture, const EventStreamOptions& options, Visitor& visitor);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_PASS_EVENT_STREAM_H_
