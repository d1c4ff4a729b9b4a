// The properties of an operator that the host needs to compute it: the written arguments, the results, and whether it
// draws random numbers. Made once for each operator, when the computation of values starts.
#ifndef SIMCUDA_TORCH_VALUES_HOST_OPERATOR_PLAN_H_
#define SIMCUDA_TORCH_VALUES_HOST_OPERATOR_PLAN_H_

#include <ATen/core/dispatch/Dispatcher.h>

#include <cstdint>
#include <string>
#include <vector>

#include "simcuda/torch_values/host/host_equivalents.h"
#include "simcuda/torch_values/host/value_shapes.h"

namespace memoir {

enum class ArgumentUse : std::uint8_t {
  kUnread,  // not needed on the host
  kRead,
  kUpdated,      // read and written, like the first argument of add_
  kOverwritten,  // written, and the old values are not read, like `out` or the first argument of fill_
};

struct OperatorPlan {
  std::string name;  // "aten::nonzero"
  std::vector<ArgumentUse> uses;
  std::vector<bool> fresh;      // for each result: true if it is a new tensor, or a list of new tensors
  std::int64_t generator = -1;  // index of the generator among the arguments; -1: no generator
  bool computed = false;        // the operator can be computed on the host
  bool answers = false;         // the result is a value, not a tensor: aten::equal
  bool copies = false;          // the operator is aten::copy_
  bool draws = false;           // the operator draws random numbers
  ShapeRule shape = nullptr;    // nullptr: the shapes of the results do not depend on values
  // Computed in place of the operator; nullptr: the operator itself is computed.
  const HostEquivalent* equivalent = nullptr;
};

OperatorPlan PlanOf(const c10::OperatorHandle& op);

// Returns true if an argument with this use is written.
inline bool Writes(ArgumentUse use) { return use == ArgumentUse::kUpdated || use == ArgumentUse::kOverwritten; }

// Returns true if the operator's CUDA kernel writes values of tensors.
bool WritesValues(const c10::OperatorHandle& op);

}  // namespace memoir

#endif  // SIMCUDA_TORCH_VALUES_HOST_OPERATOR_PLAN_H_
