// What a Function of Python's (torch.autograd.Function) was given. Its range shows the tensors alone, unless
// torch.profiler records shapes: then also None, numbers, and tuples and lists of these. Here they are read from the
// frame of Function.apply, which stands around the range.
#ifndef TRACKER_MODULES_FUNCTION_ARGUMENTS_H_
#define TRACKER_MODULES_FUNCTION_ARGUMENTS_H_

#include <cstddef>
#include <cstdint>

#include "interpose/ring_record.h"

namespace memoir {

// Kinds as a range's (docs/capture_format.md, "Argument kinds").
struct FunctionArguments {
  std::uint16_t count = 0;  // 0: not in Function.apply, or with more than there is room for
  std::uint16_t tensors = 0;
  std::uint8_t kinds[kMaxArguments];
};

// Of the innermost frame of the calling thread, where that is Function.apply's. Inside the range's begin.
void ReadFunctionArguments(FunctionArguments* arguments);

}  // namespace memoir

#endif  // TRACKER_MODULES_FUNCTION_ARGUMENTS_H_
