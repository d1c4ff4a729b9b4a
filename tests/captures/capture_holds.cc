// The part of the builder that makes events of modules' and optimizers' tensors.
#include "tests/captures/capture_builder.h"

namespace memoir::testing {

v1::ThreadRun& ProcessBuilder::AddLists(v1::EventKind kind, const std::vector<std::vector<TensorSpec>>& lists,
                                        const std::vector<std::string>& names) {
  std::vector<std::size_t> lengths;
  std::size_t tensors = 0;
  for (const std::vector<TensorSpec>& list : lists) {
    lengths.push_back(list.size());
    tensors += list.size();
  }
  v1::ThreadRun& run = AddEvent(kind, tensors);
  run.add_signature(SignatureIdOf(std::string(lists.size(), 'L'), lengths));
  for (const std::vector<TensorSpec>& list : lists) {
    for (const TensorSpec& tensor : list) AddTensor(run, tensor);
  }
  for (const std::string& name : names) run.add_holds_name(name.empty() ? 0 : NameIdOf(name, false));
  tick_ += options_.tick_step;
  return run;
}

ProcessBuilder& ProcessBuilder::ModuleHolds(const std::string& path, const std::vector<std::vector<TensorSpec>>& lists,
                                            const std::vector<std::string>& names, const std::string& class_name,
                                            const std::string& root) {
  const std::uint32_t module = ModuleIdOf(root, path, class_name);
  AddLists(v1::MODULE_HOLDS, lists, names).add_module(module);
  return *this;
}

ProcessBuilder& ProcessBuilder::OptimizerHolds(std::uint64_t optimizer,
                                               const std::vector<std::vector<TensorSpec>>& lists) {
  AddLists(v1::OPTIMIZER_HOLDS, lists, {}).add_owner(optimizer);
  return *this;
}

ProcessBuilder& ProcessBuilder::HoldsMore(const std::vector<std::vector<TensorSpec>>& lists,
                                          const std::vector<std::string>& names) {
  AddLists(v1::HOLDS_MORE, lists, names);
  return *this;
}

ProcessBuilder& ProcessBuilder::GradientOf(const TensorSpec& parameter, const TensorSpec& gradient) {
  AddLists(v1::GRADIENT_OF, {{parameter}, {gradient}}, {});
  return *this;
}

}  // namespace memoir::testing
