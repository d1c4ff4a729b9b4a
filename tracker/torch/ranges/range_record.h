// Writes the records of one range. The begin has the range's name, its argument kinds and the tensors among the
// arguments. The end has the argument kinds of the results and their tensors. While the range is open, it is in the
// thread's list of open ranges (open_ranges.h). The callers, such as range_hook.cc and dispatch_fallback.cc, choose
// RangeStart::source.
//
// Call the functions on the range's thread, when the range begins or ends. They do nothing while ranges are not
// recorded. They preserve errno, do not allocate, do not throw, and keep no reference to their arguments.
#ifndef TRACKER_TORCH_RANGES_RANGE_RECORD_H_
#define TRACKER_TORCH_RANGES_RANGE_RECORD_H_

#include <ATen/core/ivalue.h>

#include <cstdint>

#include "interpose/ring/ring.h"
#include "tracker/modules/function_arguments.h"

namespace memoir {

// The value of RangeStart::sequence for an operator that a TorchDispatchMode would not have seen (capture.proto).
inline constexpr std::int64_t kUnseenByModes = -2;

// The properties of a range that begins.
struct RangeStart {
  RangeSource source;
  std::uint32_t name;            // from FindOperatorName; 0: the record contains `text`
  const char* text;              // used only if `name` is 0
  std::int64_t sequence;         // autograd's sequence number; -1: no number; or kUnseenByModes
  std::uint32_t forward_thread;  // torch's number of the forward thread; kBackward only
  bool accumulates;              // kBackward only: the range accumulates a parameter's gradient, which EndRange records
  // The argument kinds of a torch.autograd.Function in Python, for which torch passes only the tensors to BeginRange.
  // BeginRange ignores `given` if its tensors are not exactly the arguments. nullptr for operators of torch.
  const FunctionArguments* given;
};

// Records the begin of a range. `range` is any even address that belongs to the range alone while the range is open;
// pass the same address to EndRange.
void BeginRange(const void* range, const RangeStart& start, c10::ArrayRef<const c10::IValue> arguments);

// Records a range without duration on this thread, for example for an asynchronous range, which may end on another
// thread.
void RecordInstantRange(const RangeStart& start, c10::ArrayRef<const c10::IValue> arguments);

// Records the end of a range. Does nothing if the begin was not recorded. Closes the open ranges inside of it, so that
// recorded ranges are always nested.
void EndRange(const void* range, c10::ArrayRef<const c10::IValue> results);

// Counts a dropped record, so that readers of the capture see a gap where the range would be. Call it if a hook, or a
// function that the hook calls, has thrown an exception.
void CountLostRange() noexcept;

}  // namespace memoir

#endif  // TRACKER_TORCH_RANGES_RANGE_RECORD_H_
