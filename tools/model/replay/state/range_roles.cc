#include "tools/model/replay/state/range_roles.h"

#include <algorithm>
#include <string_view>

namespace memoir {
namespace {

// Returns true if a range with this name, which begins with "torch.compile: ", runs kernels to choose the fastest.
bool IsTuning(std::string_view name) {
  constexpr std::string_view kWords[] = {"autotun", "Autotun", "benchmark", "coordinate_descent"};
  return name.find('{') == std::string_view::npos &&
         std::ranges::any_of(kWords, [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

}  // namespace

const RangeRoles::NameRoles& RangeRoles::Find(NameId name) {
  if (name.value >= roles_.size()) roles_.resize(name.value + 1);
  NameRoles& roles = roles_[name.value];
  const std::string_view text = dictionary_.text(name);
  RangeRole role;
  role.backward = text.starts_with("autograd::engine::");  // the engine's range around a node
  role.region = text.starts_with("Torch-Compiled Region");
  role.compiled = role.region || text.starts_with("CompiledFunction");
  roles.of_others = role;
  role.optimizer = text.starts_with("Optimizer.step#") || text.starts_with("Optimizer.zero_grad#");
  role.compiling = text.starts_with("torch.compile: ");
  role.note = role.compiling && dictionary_.IsNote(name);
  role.tuning = role.compiling && IsTuning(text);
  roles.of_user = role;
  roles.accumulates = text == "torch::autograd::AccumulateGrad";
  roles.known = true;
  return roles;
}

}  // namespace memoir
