// Every range of torch's RecordFunction, on every thread: begin, end, nesting, sequence number, arguments and results.
//
// The callback cannot be given a context without a heap object per range, so each thread keeps a stack of the ranges it
// has recorded, and an end is matched by the address of its RecordFunction. Ends without a recorded begin (recording
// was off) are passed over; an end that jumps ranges closes those above it, so the record always nests.
#ifndef TRACKER_TORCH_RANGE_HOOK_H_
#define TRACKER_TORCH_RANGE_HOOK_H_

namespace memoir {

enum class RangeScopes {
  kAll,
  kWithoutFunctions,  // autograd nodes and user ranges: operators are another hook's, and cost nothing here
};

// What EnableRangeHook (hooks.h) puts into torch's list of global callbacks from now on. Call at the start of each
// recording, from its thread, while recording is off.
void InstallRangeHook(RangeScopes scopes);

}  // namespace memoir

#endif  // TRACKER_TORCH_RANGE_HOOK_H_
