#include "tools/analyze/data_flow/held_tensors.h"

#include <cstddef>
#include <utility>

#include "tools/model/held_lists.h"

namespace memoir {
namespace {

// Also what belongs to a parameter that torch.profiler does not look at is not.
void Append(const HoldsEvent& event, const Dictionary& dictionary, HeldTensors::Holding& holding) {
  HeldLists lists(event, dictionary);
  const absl::Span<const Tensor> parameters = lists.Next();
  const auto append = [&](const Tensor& tensor, std::size_t parameter, std::vector<Tensor>& held) {
    const bool of_unlisted = parameter < parameters.size() && parameters[parameter].unlisted;
    if (!tensor.unlisted && !of_unlisted) held.push_back(tensor);
  };
  const auto append_all = [&](absl::Span<const Tensor> tensors, std::vector<Tensor>& held) {
    for (std::size_t i = 0; i < tensors.size(); ++i) append(tensors[i], i, held);
  };
  append_all(parameters, holding.parameters);
  append_all(lists.Next(), holding.gradients);
  if (holding.is_module) return;  // its buffers are not looked at either
  const bool by_parameter = lists.size() == parameters.size() + 2;
  for (std::size_t list = 2; list < lists.size(); ++list) {
    const std::size_t parameter = by_parameter ? list - 2 : parameters.size();
    for (const Tensor& state : lists.Next()) append(state, parameter, holding.state);
  }
}

}  // namespace

// torch.profiler looks at what a module or an optimizer holds when it is first called, and never again.
const HeldTensors::Holding* HeldTensors::Count(Holding& holding) {
  return std::exchange(holding.counted, true) ? nullptr : &holding;
}

const HeldTensors::Holding* HeldTensors::Take(const HoldsEvent& event, const Dictionary& dictionary, bool in_window) {
  if (event.is_gradient) return nullptr;
  if (event.more) {
    if (const auto last = last_.find(event.thread); last != last_.end()) Append(event, dictionary, *last->second);
    return nullptr;
  }
  Holding& holding = event.is_module ? modules_[event.module] : optimizers_[event.owner];
  last_[event.thread] = &holding;
  if (!event.is_module && event.tensors.empty()) return in_window ? Count(holding) : nullptr;
  holding.is_module = event.is_module;
  holding.parameters.clear();
  holding.gradients.clear();
  holding.state.clear();
  Append(event, dictionary, holding);
  return nullptr;
}

const HeldTensors::Holding* HeldTensors::CallModule(ModuleId module) {
  return Count(modules_[module]);  // also of one that holds nothing yet: what it gets later is not looked at
}

}  // namespace memoir
