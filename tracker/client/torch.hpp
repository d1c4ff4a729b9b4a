// Describes the modules of a libtorch program with their parameters and buffers, and its optimizers with their state,
// so that a recording has the same names and categories as for a Python program. Header only; includes memoir.hpp,
// modules.hpp and optimizers.hpp.
//
//     const memoir::Watch watch(net), watched(optimizer);  // recordings contain both until the end of the scope
//     torch::Tensor NetImpl::forward(torch::Tensor x) {
//       const memoir::Call call(*this);                     // this module runs until the end of the scope
//       return memoir::Forward(fc2, torch::relu(memoir::Forward(fc1, x)));
//     }
//     memoir::ZeroGrad(optimizer);                          // optimizer.zero_grad(), as a range
//     memoir::Step(optimizer);                              // optimizer.step(), as a range, with its tensors
//
// May be used on any thread. If several threads use one module, torch's own rules for threads apply. While nothing is
// recorded, each of these functions and classes costs a few instructions.
#ifndef TRACKER_CLIENT_TORCH_HPP_
#define TRACKER_CLIENT_TORCH_HPP_

#include <c10/util/Type.h>
#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/optim.h>
#include <memoir.hpp>
#include <memoir/modules.hpp>
#include <memoir/optimizers.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

namespace memoir {
namespace internal {

// Returns the name that the class has in Python: "Linear" for torch::nn::LinearImpl.
inline std::string ClassName(const std::type_info& type) {
  std::string name = c10::demangle(type.name());
  name = name.substr(0, name.find('<'));
  const std::size_t scope = name.rfind("::");
  if (scope != std::string::npos) name.erase(0, scope + 2);
  constexpr std::size_t kImpl = 4;
  if (name.size() > kImpl && name.compare(name.size() - kImpl, kImpl, "Impl") == 0) name.resize(name.size() - kImpl);
  return name;
}

template <class Tensors>
NamedTensors Named(const Tensors& tensors) {
  NamedTensors named;
  for (const auto& item : tensors) named.emplace_back(item.key(), item.value());
  return named;
}

inline ModuleDescription DescribeOne(const std::string& path, const torch::nn::Module& module) {
  return {&module, path, ClassName(typeid(module)), Named(module.named_parameters(false)),
          Named(module.named_buffers(false))};
}

// Adapts each kind of object that can be watched to the class Modules: a torch::nn::Module, a holder such as
// torch::nn::Linear, or a pointer to a module. memoir/script.hpp adds modules of TorchScript.
template <class ModuleOrHolder>
struct WatchTraits {
  static auto& ModuleOf(ModuleOrHolder& module) {
    if constexpr (std::is_base_of_v<torch::nn::Module, std::remove_const_t<ModuleOrHolder>>) {
      return module;
    } else {
      return *module;
    }
  }
  static const void* Key(ModuleOrHolder& module) { return static_cast<const torch::nn::Module*>(&ModuleOf(module)); }
  static std::string Class(ModuleOrHolder& module) {
    const torch::nn::Module& root = ModuleOf(module);
    return ClassName(typeid(root));
  }
  static ModuleDescriber Describer(ModuleOrHolder& module) {
    return [root = static_cast<const torch::nn::Module*>(&ModuleOf(module))] {
      std::vector<ModuleDescription> all = {DescribeOne("", *root)};
      for (const auto& item : root->named_modules("", false)) all.push_back(DescribeOne(item.key(), *item.value()));
      return all;
    };
  }
};

inline void ReportHoldings() {
  Modules::Get().ReportAll();
  Optimizers::Get().ReportAll();
}

template <class Watched>
constexpr bool kIsOptimizer = std::is_base_of_v<torch::optim::Optimizer, std::remove_const_t<Watched>>;

}  // namespace internal

// Watches a model or an optimizer: recordings contain it while this object exists. Destroy this object before the model
// or the optimizer. Modules that are added to the model later are missing until you make a new Watch. The tensors of an
// optimizer are recorded when a training step (memoir::Step()) or a Session begins, when a Session ends, and when this
// object is destroyed. If the program calls memoir::Step(optimizer), that function records the tensors instead.
class Watch {
 public:
  template <class Watched>
  explicit Watch(Watched& watched) {
    internal::Client::Get().describe = &internal::ReportHoldings;
    if constexpr (internal::kIsOptimizer<Watched>) {
      optimizer_ = &watched;
      internal::Optimizers::Get().Add(optimizer_);
    } else {
      using WatchTraits = internal::WatchTraits<Watched>;
      root_ = WatchTraits::Key(watched);
      internal::Modules::Get().Add(root_, WatchTraits::Class(watched), WatchTraits::Describer(watched));
    }
  }
  ~Watch() {
    if (optimizer_ != nullptr) internal::Optimizers::Get().Remove(optimizer_);
    if (root_ != nullptr) internal::Modules::Get().Remove(root_);
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  const void* root_ = nullptr;
  torch::optim::Optimizer* optimizer_ = nullptr;
};

// A call of a watched module, on this thread, until the end of the scope. Does nothing for a module that is not
// watched.
class Call {
 public:
  template <class ModuleOrHolder>
  explicit Call(ModuleOrHolder& module) : functions_(internal::Recording()) {
    if (functions_ == nullptr) return;
    number_ = internal::Modules::Get().NumberOf(*functions_, internal::WatchTraits<ModuleOrHolder>::Key(module));
    if (number_ != 0) functions_->enter_module(number_);
  }
  ~Call() {
    if (number_ != 0) functions_->exit_module(number_);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

 private:
  const internal::Functions* functions_;
  std::uint32_t number_ = 0;
};

// Runs `module.forward(arguments...)` inside of a memoir::Call. Use it for modules whose own code makes no
// memoir::Call, such as modules of torch.
template <class ModuleOrHolder, class... Arguments>
auto Forward(ModuleOrHolder& module, Arguments&&... arguments) {
  const Call call(module);
  return internal::WatchTraits<ModuleOrHolder>::ModuleOf(module).forward(std::forward<Arguments>(arguments)...);
}

// Runs `optimizer.step(closure)` as a range, then records the optimizer's tensors. Returns the loss.
template <class Optimizer, class = std::enable_if_t<internal::kIsOptimizer<Optimizer>>>
torch::Tensor Step(Optimizer& optimizer, torch::optim::Optimizer::LossClosure closure = nullptr) {
  const Range range("Optimizer.step#" + internal::ClassName(typeid(optimizer)) + ".step");
  torch::Tensor loss = optimizer.step(std::move(closure));
  internal::Optimizers::Get().NoteStep(&optimizer);
  if (const internal::Functions* functions = internal::Recording()) internal::OptimizerHoldings(*functions, optimizer);
  return loss;
}

// Runs `optimizer.zero_grad(set_to_none)` as a range.
template <class Optimizer, class = std::enable_if_t<internal::kIsOptimizer<Optimizer>>>
void ZeroGrad(Optimizer& optimizer, bool set_to_none = true) {
  const Range range("Optimizer.zero_grad#" + internal::ClassName(typeid(optimizer)) + ".zero_grad");
  optimizer.zero_grad(set_to_none);
}

}  // namespace memoir

#endif  // TRACKER_CLIENT_TORCH_HPP_
