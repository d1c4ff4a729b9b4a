// Extends torch.hpp to TorchScript: memoir::Watch, memoir::Call and memoir::Forward take a torch::jit::Module.
//
//     torch::jit::Module net = torch::jit::load("net.pt");
//     const memoir::Watch watch(net);                  // the names that parameters, buffers and modules had in Python
//     memoir::Forward(net, {x});                       // calls net.forward({x}), recorded as a call of the root
//
// Calls of inner modules are not recorded, because TorchScript runs them as one graph.
#ifndef TRACKER_CLIENT_SCRIPT_HPP_
#define TRACKER_CLIENT_SCRIPT_HPP_

#include <torch/script.h>
#include <memoir/torch.hpp>

#include <string>
#include <utility>
#include <vector>

namespace memoir {
namespace internal {

template <class Slots>
NamedTensors NamedSlots(const Slots& slots) {
  NamedTensors named;
  for (const auto& slot : slots) named.emplace_back(slot.name, slot.value);
  return named;
}

inline std::string ScriptClass(const torch::jit::Module& module) {
  const auto name = module.type()->name();  // qualified: "__torch__.net.Net"
  return name ? name->name() : "ScriptModule";
}

inline ModuleDescription DescribeOne(const std::string& path, const torch::jit::Module& module) {
  return {module._ivalue().get(), path, ScriptClass(module), NamedSlots(module.named_parameters(false)),
          NamedSlots(module.named_buffers(false))};
}

template <>
struct WatchTraits<torch::jit::Module> {
  static torch::jit::Module& ModuleOf(torch::jit::Module& module) { return module; }
  static const void* Key(const torch::jit::Module& module) { return module._ivalue().get(); }
  static std::string Class(const torch::jit::Module& module) { return ScriptClass(module); }
  static ModuleDescriber Describer(const torch::jit::Module& module) {
    return [root = module] {
      std::vector<ModuleDescription> all;
      for (const auto& item : root.named_modules()) all.push_back(DescribeOne(item.name, item.value));
      return all;
    };
  }
};

}  // namespace internal

// Runs `module.forward(inputs)` inside of a memoir::Call.
inline torch::jit::IValue Forward(torch::jit::Module& module, std::vector<torch::jit::IValue> inputs) {
  const Call call(module);
  return module.forward(std::move(inputs));
}

}  // namespace memoir

#endif  // TRACKER_CLIENT_SCRIPT_HPP_
