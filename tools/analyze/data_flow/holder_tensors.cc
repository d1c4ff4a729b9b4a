#include "tools/analyze/data_flow/holder_tensors.h"

#include <cstddef>
#include <utility>

#include "tools/model/event/held_tensor_lists.h"

namespace memoir {
namespace {

// Appends the tensors that torch.profiler reads. torch.profiler ignores unlisted tensors (Tensor::unlisted), and the
// gradients and states of unlisted parameters.
void Append(const HeldTensorsEvent& event, const Dictionary& dictionary, HolderTensors::Holding& holding) {
  HeldTensorLists lists(event, dictionary);
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
  if (holding.is_module) return;  // torch.profiler does not read buffers
  const bool by_parameter = lists.size() == parameters.size() + 2;
  for (std::size_t list = 2; list < lists.size(); ++list) {
    const std::size_t parameter = by_parameter ? list - 2 : parameters.size();
    for (const Tensor& state : lists.Next()) append(state, parameter, holding.state);
  }
}

}  // namespace

// Returns `holding` the first time, then nullptr: torch.profiler reads the tensors of a module or an optimizer only at
// its first call.
const HolderTensors::Holding* HolderTensors::Count(Holding& holding) {
  return std::exchange(holding.counted, true) ? nullptr : &holding;
}

const HolderTensors::Holding* HolderTensors::AddHolding(const HeldTensorsEvent& event, const Dictionary& dictionary,
                                                        bool in_window) {
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

const HolderTensors::Holding* HolderTensors::CallModule(ModuleId module) {
  return Count(modules_[module]);  // also marks a module without tensors, so that its later tensors are not read
}

}  // namespace memoir
