// Operators whose result has a shape that depends on values, such as nonzero. Provides the counts that their kernels
// would have returned.
#ifndef SIMCUDA_TORCH_VALUES_HOST_VALUE_SHAPES_H_
#define SIMCUDA_TORCH_VALUES_HOST_VALUE_SHAPES_H_

#include <ATen/core/ivalue.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace memoir {

using IValues = c10::ArrayRef<c10::IValue>;

// The values that torch's own code reads from the device while it determines the shape (simulated_memory.h), in the
// order in which it reads them.
struct ShapeAnswers {
  std::array<std::uint64_t, 2> values;
  std::size_t count;  // number of values; 0: with these arguments, torch reads no value
  bool is_decision;   // a policy chose the shape, because the values are unknown
};

// Computes the values from `results`, which the host has computed. If `results` is empty, the policy `takes_most`
// chooses them from the arguments alone.
using ShapeRule = ShapeAnswers (*)(IValues arguments, IValues results, bool takes_most);

// Returns the rule for the operator `name`; nullptr if there is no rule for it.
ShapeRule FindShapeRule(std::string_view name);

}  // namespace memoir

#endif  // SIMCUDA_TORCH_VALUES_HOST_VALUE_SHAPES_H_
