// What must be known of an operator to compute it on the host: which arguments it writes, what it returns, what it
// draws. Made once for each operator, when values start.
#ifndef TRACKER_TORCH_SIMULATED_OPERATOR_PLAN_H_
#define TRACKER_TORCH_SIMULATED_OPERATOR_PLAN_H_

#include <ATen/core/dispatch/Dispatcher.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tracker/torch/simulated/host_equivalents.h"
#include "tracker/torch/simulated/value_shapes.h"

namespace memoir {

enum class ArgumentUse : std::uint8_t {
  kUnread,  // nothing that the host needs
  kRead,
  kUpdated,      // read and written: add_
  kOverwritten,  // written, without a look at what was there: out=, fill_
};

struct OperatorPlan {
  std::string name;  // "aten::nonzero"
  std::vector<ArgumentUse> uses;
  std::vector<bool> fresh;                     // of each result: a tensor, or tensors, of its own
  std::int64_t generator = -1;                 // its place among the arguments
  bool computed = false;                       // it can be, on the host
  bool answers = false;                        // its result is a value, not a tensor: equal
  bool copies = false;                         // aten::copy_
  bool draws = false;                          // random numbers
  ShapeRule shape = nullptr;                   // when its result has a shape that depends on values
  const HostEquivalent* equivalent = nullptr;  // instead of the operator itself
};

OperatorPlan PlanOf(const c10::OperatorHandle& op);

// Whether it writes to an argument of that use.
inline bool Writes(ArgumentUse use) { return use == ArgumentUse::kUpdated || use == ArgumentUse::kOverwritten; }

// Whether the operator's kernel for CUDA writes bytes of tensors that somebody might look at.
bool WritesValues(const c10::OperatorHandle& op);

}  // namespace memoir

#endif  // TRACKER_TORCH_SIMULATED_OPERATOR_PLAN_H_
