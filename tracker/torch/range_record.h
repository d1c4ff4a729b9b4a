// The records of one range: its begin with name, argument kinds and tensors, its end with those of its results, and
// between the two its place among the thread's open ranges. What kind of range it is, its hook says
// (range_hook.h, dispatch_fallback.h).
//
// Called inside the range's begin or end, on its thread. Reads the enable flag first, keeps errno, allocates nothing,
// throws nothing, keeps no reference.
#ifndef TRACKER_TORCH_RANGE_RECORD_H_
#define TRACKER_TORCH_RANGE_RECORD_H_

#include <ATen/core/ivalue.h>

#include <cstdint>

#include "interpose/ring.h"
#include "tracker/modules/function_arguments.h"

namespace memoir {

// In place of no sequence number: an operator that no TorchDispatchMode would have been shown (capture.proto).
inline constexpr std::int64_t kUnseenByModes = -2;

struct RangeStart {
  RangeSource source;
  std::uint32_t name;            // FindOperatorName's; 0: `text` goes into the record
  const char* text;              // only read when `name` is 0
  std::int64_t sequence;         // autograd's; -1: none; or kUnseenByModes
  std::uint32_t forward_thread;  // torch's number of it; kBackward only
  bool accumulates;              // kBackward only: a parameter's gradient, which its end records
  // What it was given, where its arguments show the tensors of that alone; nullptr: they show everything.
  const FunctionArguments* given;
};

// `range` is any even address that is the range's own while it is open; it is given to EndRange again.
void BeginRange(const void* range, const RangeStart& start, c10::ArrayRef<const c10::IValue> arguments);

// A range that ends on another thread, where it nests in nothing: an instant here.
void RecordInstantRange(const RangeStart& start, c10::ArrayRef<const c10::IValue> arguments);

// Does nothing when the begin was not recorded. Closes what stands open above it, so the record always nests.
void EndRange(const void* range, c10::ArrayRef<const c10::IValue> results);

// A hook has thrown, or what it calls: memory has run out. Counts a drop, which the capture shows in its place.
void CountLostRange() noexcept;

}  // namespace memoir

#endif  // TRACKER_TORCH_RANGE_RECORD_H_
