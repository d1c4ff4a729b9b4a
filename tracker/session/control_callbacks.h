// What torch, hooks of allocators and calls of modules call while a recording is controlled: each leads to this
// process's RecordingControls (recording_controls.h), and nothing is thrown.
#ifndef TRACKER_SESSION_CONTROL_CALLBACKS_H_
#define TRACKER_SESSION_CONTROL_CALLBACKS_H_

#include <cstdint>

#include "tracker/torch/hooks.h"

namespace memoir {

extern const RangeWatcher kControlsWatcher;  // of user ranges

void OnDeviation();                          // of known steps: in the allocation, under the allocator's lock
void OnOutermostCall(std::uint64_t module);  // with Python's lock

}  // namespace memoir

#endif  // TRACKER_SESSION_CONTROL_CALLBACKS_H_
