// Replaces operators that torch has only for CUDA, or computes differently on CUDA, by CPU operators.
#ifndef SIMCUDA_TORCH_VALUES_HOST_HOST_EQUIVALENTS_H_
#define SIMCUDA_TORCH_VALUES_HOST_HOST_EQUIVALENTS_H_

#include <ATen/core/Generator.h>
#include <ATen/core/ivalue.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace memoir {

struct HostEquivalent {
  std::string_view name;
  // Computes the operator. `arguments` are the operator's arguments, on the CPU. Returns the results in order; a result
  // that is not used is None. nullopt if there is no equivalent for these arguments.
  std::optional<std::vector<c10::IValue>> (*run)(const std::vector<c10::IValue>& arguments,
                                                 const at::Generator& generator);
  std::uint32_t unread;   // one bit for each argument that `run` does not read
  std::uint32_t updated;  // one bit for each argument that is written, although the schema does not mark it as written
  bool draws;             // the operator draws random numbers from the default generator
};

// Returns the equivalent of the operator `name`; nullptr if the operator has no equivalent.
const HostEquivalent* FindHostEquivalent(std::string_view name);

}  // namespace memoir

#endif  // SIMCUDA_TORCH_VALUES_HOST_HOST_EQUIVALENTS_H_
