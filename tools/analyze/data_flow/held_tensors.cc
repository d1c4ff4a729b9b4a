#include "tools/analyze/data_flow/held_tensors.h"

#include <algorithm>
#include <utility>

namespace memoir {
namespace {

void Append(const HoldsEvent& event, const Dictionary& dictionary, HeldTensors::Holding& holding) {
  if (!event.signature.valid()) return;
  std::vector<Tensor>* const lists[] = {&holding.parameters, &holding.gradients, &holding.state};
  const std::vector<std::uint32_t>& lengths = dictionary.signature(event.signature).list_lengths;
  std::size_t tensor = 0;
  for (std::size_t list = 0; list < lengths.size() && (list < 2 || !holding.is_module); ++list) {
    std::vector<Tensor>& held = *lists[std::min<std::size_t>(list, 2)];
    const std::size_t end = std::min<std::size_t>(tensor + lengths[list], event.tensors.size());
    for (; tensor < end; ++tensor) held.push_back(event.tensors[tensor]);
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
