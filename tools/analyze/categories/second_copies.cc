#include "tools/analyze/categories/second_copies.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

namespace memoir {
namespace {

// A model with fewer parameters, or with parameters of only one layout, may match by chance.
constexpr std::uint64_t kFewestTensors = 4;
constexpr std::size_t kFewestLayouts = 2;
// A program that makes more inputs than this before it calls a module is making batches, not a copy of a model.
constexpr std::size_t kMostInputs = std::size_t{1} << 17;

}  // namespace

void SecondCopies::Note(const Block& block, const Layouts& layouts, std::uint64_t module_calls) {
  if (!layouts[0].valid()) return;
  Inputs& inputs = inputs_[{block.device, module_calls}];
  if (inputs.size() < kMostInputs) inputs.push_back({block.ordinal, layouts});
}

std::vector<std::uint64_t> SecondCopies::Matching(const Inputs& inputs, Counts missing) {
  std::vector<std::uint64_t> ordinals;
  for (const Input& input : inputs) {
    for (const LayoutId layout : input.layouts) {
      const auto parameter = missing.find(layout);
      if (parameter == missing.end()) continue;
      ordinals.push_back(input.ordinal);
      if (--parameter->second == 0) missing.erase(parameter);
      break;
    }
  }
  if (!missing.empty()) ordinals.clear();
  return ordinals;
}

std::vector<std::uint64_t> SecondCopies::EndProcess(ProcessId process, absl::Span<const Parameter> parameters) {
  struct Model {
    Counts layouts;
    std::uint64_t tensors = 0;
  };
  std::map<std::string, Model> models;  // by root class
  for (const Parameter& parameter : parameters) {
    if (parameter.process != process || parameter.is_buffer || parameter.names.empty() || !parameter.layout.valid())
      continue;
    Model& model = models[parameter.root];
    ++model.layouts[parameter.layout];
    ++model.tensors;
  }
  std::vector<std::uint64_t> copies;
  for (auto& [made, inputs] : inputs_) {
    // Inputs are noted in the order in which they are freed. Inputs must be matched in the order of their allocations,
    // because a second copy is made before the batches.
    std::ranges::sort(inputs, {}, &Input::ordinal);
    std::vector<std::uint64_t> most;
    for (const auto& [root, model] : models) {
      if (model.tensors < kFewestTensors || model.layouts.size() < kFewestLayouts) continue;
      if (std::vector<std::uint64_t> matching = Matching(inputs, model.layouts); matching.size() > most.size())
        most = std::move(matching);
    }
    copies.insert(copies.end(), most.begin(), most.end());
  }
  inputs_.clear();
  return copies;
}

}  // namespace memoir
