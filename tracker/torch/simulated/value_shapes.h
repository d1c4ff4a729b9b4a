// Operators whose results have a shape that depends on values: what their kernels would have counted.
#ifndef TRACKER_TORCH_SIMULATED_VALUE_SHAPES_H_
#define TRACKER_TORCH_SIMULATED_VALUE_SHAPES_H_

#include <ATen/core/ivalue.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace memoir {

using IValues = c10::ArrayRef<c10::IValue>;

// What torch's own code reads from the device while it finds the shape (device_memory.h), `count` values in order.
struct ShapeAnswers {
  std::array<std::uint64_t, 2> values;
  std::size_t count;  // 0: the operator asks for nothing with these arguments
  bool is_decision;   // it is a shape, and a policy was applied
};

// With `results`, of the host's computation: what they say. Without (empty): by the policy, from the arguments alone.
using ShapeRule = ShapeAnswers (*)(IValues arguments, IValues results, bool takes_most);

// nullptr: no such operator.
ShapeRule FindShapeRule(std::string_view name);

}  // namespace memoir

#endif  // TRACKER_TORCH_SIMULATED_VALUE_SHAPES_H_
