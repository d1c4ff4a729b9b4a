// Records every range of torch's RecordFunction, on every thread: begin, end, depth, sequence number, arguments and
// results.
//
// torch could pass a context object from the begin of a range to its end, but torch would allocate each context on the
// heap. Instead, each thread keeps a stack of its open ranges (open_ranges.h). When a range ends, the thread finds the
// range in the stack by the address of its RecordFunction. If the begin was not recorded, because recording was off,
// the end is ignored. If a range ends while ranges inside of it are open, these are also closed. So recorded ranges are
// always nested.
#ifndef TRACKER_TORCH_RANGES_RANGE_HOOK_H_
#define TRACKER_TORCH_RANGES_RANGE_HOOK_H_

namespace memoir {

enum class RangeScopes {
  // Operators, autograd nodes and user ranges.
  kAll,
  // Only autograd nodes and user ranges. torch does not call the range hook for operators; dispatch_fallback.h records
  // them.
  kWithoutFunctions,
};

// Sets the ranges for which torch calls the range hook. EnableRangeHook (hooks.h) adds the hook to torch's callbacks.
// Call it at the start of each recording, on the thread that starts the recording, while recording is off.
void InstallRangeHook(RangeScopes scopes);

}  // namespace memoir

#endif  // TRACKER_TORCH_RANGES_RANGE_HOOK_H_
