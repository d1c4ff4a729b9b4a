// Callbacks with which torch's ranges, the allocator hooks and module calls inform the RecordingControls of this
// process (recording_controls.h). They do not throw.
#ifndef TRACKER_SESSION_CONTROL_CONTROL_CALLBACKS_H_
#define TRACKER_SESSION_CONTROL_CONTROL_CALLBACKS_H_

#include <cstdint>

#include "tracker/torch/hooks.h"

namespace memoir {

extern const RangeWatcher kControlsWatcher;  // called for user ranges

void OnDeviation();  // a step deviates from its reference step; called under the allocator's lock
void OnOutermostCall(std::uint64_t module);  // called with the GIL held

}  // namespace memoir

#endif  // TRACKER_SESSION_CONTROL_CONTROL_CALLBACKS_H_
