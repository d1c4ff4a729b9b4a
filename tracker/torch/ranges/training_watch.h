// Detects that a process which is not recording begins to train: at a backward pass, or at an optimizer step.
//
// It uses a separate callback for these ranges alone, so in a process that only loads data, operators cost nothing. The
// first such range is not recorded, because torch chose the callbacks of this range before the recording began. The
// operators inside of it are recorded.
#ifndef TRACKER_TORCH_RANGES_TRAINING_WATCH_H_
#define TRACKER_TORCH_RANGES_TRAINING_WATCH_H_

namespace at {
struct RecordFunction;
}

namespace memoir {

// Returns true for the range of an autograd node or of an optimizer step.
bool IsTraining(const at::RecordFunction& range);

// Calls `begins` when such a range begins, on the range's thread, until WatchTraining is called with nullptr. `begins`
// must not throw. Takes a lock of torch's.
void WatchTraining(void (*begins)());

// Like WatchTraining, for a forked child in which torch's list still has the parent's hook (hooks.h). At the next range
// the watch replaces this hook. If that range is training, `begins` is called immediately. Until then no lock is taken.
// Each thread takes torch's lock in its first operator. If a thread of the parent held the lock at the fork, no thread
// releases it in the child, and a child that runs no operators must not wait for it. If there is no hook, returns false
// and does nothing.
bool WatchFromNextRange(void (*begins)());

}  // namespace memoir

#endif  // TRACKER_TORCH_RANGES_TRAINING_WATCH_H_
