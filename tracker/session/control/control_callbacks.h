// Callbacks with which torch's ranges, the allocator hooks and module calls inform the RecordingControls of this
// process (recording_controls.h). They do not throw.
#ifndef TRACKER_SESSION_CONTROL_CONTROL_CALLBACKS_H_
#define TRACKER_SESSION_CONTROL_CONTROL_CALLBACKS_H_

#include <cstdint>

#include "tracker/torch/hooks.h"

namespace memoir {

extern const RangeWatcher kControlsWatcher;  // called for user ranges

// Called under the allocator's lock, when the current step deviates from its reference step.
void OnDeviation();
// Called with the GIL held, when an outermost module call begins.
void OnOutermostCall(std::uint64_t module);

}  // namespace memoir

#endif  // TRACKER_SESSION_CONTROL_CONTROL_CALLBACKS_H_
