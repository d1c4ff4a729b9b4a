// Detects that a process which does not record begins to train: at its first backward pass or optimizer step.
//
// The watch is a callback that torch calls only for autograd nodes and user ranges, so it does not slow down operators.
// The autograd node or optimizer step with which training begins is not recorded, because torch chose its callbacks
// before the recording began. The operators inside of it are recorded.
#ifndef TRACKER_TORCH_RANGES_TRAINING_WATCH_H_
#define TRACKER_TORCH_RANGES_TRAINING_WATCH_H_

namespace at {
struct RecordFunction;
}

namespace memoir {

// Returns true for the range of an autograd node or of an optimizer step.
bool IsTraining(const at::RecordFunction& range);

// Calls `begins` each time an autograd node or an optimizer step begins, on the thread that runs the node or the step,
// until WatchTraining is called with nullptr. `begins` must not throw. WatchTraining takes a lock of torch.
void WatchTraining(void (*begins)());

// Like WatchTraining, for a forked child in which torch's list of callbacks still contains the parent's range hook
// (hooks.h). At the next range, the watch replaces the hook. If this range is an autograd node or an optimizer step,
// `begins` is called at once. WatchFromNextRange itself takes no lock of torch: if a thread of the parent held torch's
// lock at the fork, no thread of the child releases it, and a child that runs no operators must not wait for it. The
// lock is taken at the next range, because a child that runs operators takes it in any case. Returns false, and does
// nothing, if the list does not contain the hook.
bool WatchFromNextRange(void (*begins)());

}  // namespace memoir

#endif  // TRACKER_TORCH_RANGES_TRAINING_WATCH_H_
