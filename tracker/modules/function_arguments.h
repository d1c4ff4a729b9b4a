// The arguments of a Python Function (torch.autograd.Function). Without torch.profiler's `record_shapes`, the
// Function's range contains only the arguments that are tensors. With it, the range also contains None, numbers, and
// tuples and lists of these. Memoir reads these arguments from the frame of Function.apply, in which the range begins.
#ifndef TRACKER_MODULES_FUNCTION_ARGUMENTS_H_
#define TRACKER_MODULES_FUNCTION_ARGUMENTS_H_

#include <cstddef>
#include <cstdint>

#include "interpose/records/ring_record.h"

namespace memoir {

// Argument kinds as in the record of a range (docs/capture_format.md, "Argument kinds").
struct FunctionArguments {
  std::uint16_t count = 0;  // 0: the thread is not in Function.apply, or there are more than kMaxArguments
  std::uint16_t tensors = 0;
  std::uint8_t kinds[kMaxArguments];
};

// Reads the arguments from the innermost frame of the calling thread, if this frame belongs to Function.apply. Call it
// while the range begins.
void ReadFunctionArguments(FunctionArguments* arguments);

}  // namespace memoir

#endif  // TRACKER_MODULES_FUNCTION_ARGUMENTS_H_
