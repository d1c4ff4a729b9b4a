// Records every range of torch's RecordFunction, on every thread: begin, end, depth, sequence number, arguments and
// results.
//
// torch could pass a context to the callback, but each context would be a heap object. Instead, each thread keeps a
// stack of the ranges that it has recorded. When a range ends, the thread finds it in the stack by the address of its
// RecordFunction. If the begin was not recorded, because recording was off, the end is ignored. If a range ends while
// ranges inside of it are open, these are also closed. So recorded ranges are always nested.
#ifndef TRACKER_TORCH_RANGES_RANGE_HOOK_H_
#define TRACKER_TORCH_RANGES_RANGE_HOOK_H_

namespace memoir {

enum class RangeScopes {
  kAll,
  // Autograd nodes and user ranges. dispatch_fallback.h records operators; torch does not call the range hook for them.
  kWithoutFunctions,
};

// Sets the callback that EnableRangeHook (hooks.h) adds to torch's global callbacks from now on. Call it at the start
// of each recording, on the thread that starts the recording, while recording is off.
void InstallRangeHook(RangeScopes scopes);

}  // namespace memoir

#endif  // TRACKER_TORCH_RANGES_RANGE_HOOK_H_
