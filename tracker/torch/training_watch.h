// Sees that a process which is not recorded begins to train: a backward pass, or an optimizer's step.
//
// A callback of its own, for those ranges alone: operators of a process that only loads data cost nothing. The range
// that told of it is not recorded, what runs inside it is: torch chose its callbacks before.
#ifndef TRACKER_TORCH_TRAINING_WATCH_H_
#define TRACKER_TORCH_TRAINING_WATCH_H_

namespace at {
struct RecordFunction;
}

namespace memoir {

// A node of autograd, or an optimizer's step.
bool IsTraining(const at::RecordFunction& range);

// Calls `begins` at each such range, on its thread, until it is called with nullptr. `begins` must not throw. Takes a
// lock of torch's.
void WatchTraining(void (*begins)());

// The same for a forked child, where a hook of the parent's is still in torch's list (hooks.h): with the next range the
// watch takes that one's place, and `begins` is called at once where the range is training itself. Until then no lock
// is taken. torch's may have been held at the fork, by any thread that was at its first operator, and nobody releases
// it in the child: one that runs no operators must not wait for it. False: no hook is there, and nothing was done.
bool WatchFromNextRange(void (*begins)());

}  // namespace memoir

#endif  // TRACKER_TORCH_TRAINING_WATCH_H_
