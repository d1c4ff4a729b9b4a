// Operators that torch has for CUDA alone, or in another way, in terms of those for the CPU.
#ifndef TRACKER_TORCH_SIMULATED_HOST_EQUIVALENTS_H_
#define TRACKER_TORCH_SIMULATED_HOST_EQUIVALENTS_H_

#include <ATen/core/Generator.h>
#include <ATen/core/ivalue.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace memoir {

struct HostEquivalent {
  std::string_view name;
  // `arguments`: the operator's, on the CPU. Its results, in order; None for those that nobody looks at. Nothing where
  // these arguments have no equivalent.
  std::optional<std::vector<c10::IValue>> (*run)(const std::vector<c10::IValue>& arguments,
                                                 const at::Generator& generator);
  std::uint32_t unread;   // arguments that `run` does without, a bit for each
  std::uint32_t updated;  // arguments that are written to, though the schema does not say so
  bool draws;             // from the default generator
};

// nullptr: no such operator.
const HostEquivalent* FindHostEquivalent(std::string_view name);

}  // namespace memoir

#endif  // TRACKER_TORCH_SIMULATED_HOST_EQUIVALENTS_H_
