// Every range of torch's RecordFunction, on every thread: begin, end, nesting, sequence number, arguments and results.
//
// The callback cannot be given a context without a heap object per range, so each thread keeps a stack of the ranges it
// has recorded, and an end is matched by the address of its RecordFunction. Ends without a recorded begin (recording
// was off) are passed over; an end that jumps ranges closes those above it, so the record always nests.
#ifndef TRACKER_TORCH_RANGE_HOOK_H_
#define TRACKER_TORCH_RANGE_HOOK_H_

namespace memoir {

// Adds the global callback. Call once; it is never removed, only idle while recording is off.
void InstallRangeHook();

}  // namespace memoir

#endif  // TRACKER_TORCH_RANGE_HOOK_H_
