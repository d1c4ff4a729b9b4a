// Reads the argument kinds (docs/capture_format.md, "Argument kinds") of a torch.autograd.Function that is written in
// Python: which of its arguments are tensors, numbers, None, and so on. torch adds arguments that are not tensors to
// the Function's range only for torch.profiler with `record_shapes`. So Memoir reads the arguments from the frame of
// Function.apply, in which the range begins.
#ifndef TRACKER_MODULES_FUNCTION_ARGUMENTS_H_
#define TRACKER_MODULES_FUNCTION_ARGUMENTS_H_

#include <cstddef>
#include <cstdint>

#include "interpose/records/ring_record.h"

namespace memoir {

// The argument kinds of one call. Arguments that torch.profiler does not show are left out.
struct FunctionArguments {
  // Number of elements of `kinds`. Also 0 if the thread is not in Function.apply, or if there are more than
  // kMaxArguments.
  std::uint16_t count = 0;
  std::uint16_t tensors = 0;  // number of arguments that are tensors
  std::uint8_t kinds[kMaxArguments];
};

// Reads the arguments from the innermost frame of the calling thread, if this frame belongs to Function.apply. Call it
// while the range begins.
void ReadFunctionArguments(FunctionArguments* arguments);

}  // namespace memoir

#endif  // TRACKER_MODULES_FUNCTION_ARGUMENTS_H_
