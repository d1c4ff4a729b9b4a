// Sees that a process which is not recorded begins to train: a backward pass, or an optimizer's step.
//
// A callback of its own, for those ranges alone: operators of a process that only loads data cost nothing. The range
// that told of it is not recorded, what runs inside it is: torch chose its callbacks before.
#ifndef TRACKER_TORCH_TRAINING_WATCH_H_
#define TRACKER_TORCH_TRAINING_WATCH_H_

namespace memoir {

// Calls `begins` at each such range, on its thread, until it is called with nullptr. `begins` must not throw. Takes a
// lock of torch's.
void WatchTraining(void (*begins)());

}  // namespace memoir

#endif  // TRACKER_TORCH_TRAINING_WATCH_H_
