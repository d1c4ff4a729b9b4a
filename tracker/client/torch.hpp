// Tells Memoir what a libtorch program consists of: its modules, their parameters and buffers, its optimizers and their
// state, so that a recording says of it what it says of the same program in Python. Header only, with memoir.hpp and
// two parts beside it.
//
//     const memoir::Watch watch(net), watched(optimizer);  // names of modules, parameters; what the optimizer holds
//     torch::Tensor NetImpl::forward(torch::Tensor x) {
//       const memoir::Call call(*this);                     // this module runs until the end of the scope
//       return memoir::Forward(fc2, torch::relu(memoir::Forward(fc1, x)));
//     }
//     memoir::ZeroGrad(optimizer);                          // optimizer.zero_grad(), as a range
//     memoir::Step(optimizer);                              // optimizer.step(), as a range, and what it holds then
//
// Any thread; a module is watched, called and destroyed as torch itself allows it. Where nothing is recorded, each call
// is the test of a pointer.
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

// As Python names it: "Linear" of torch::nn::LinearImpl.
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

inline Described DescribeOne(const std::string& path, const torch::nn::Module& module) {
  return {&module, path, ClassName(typeid(module)), Named(module.named_parameters(false)),
          Named(module.named_buffers(false))};
}

// What can be watched, and how: a torch::nn::Module, a holder of one such as torch::nn::Linear, or a pointer to one.
// memoir/script.hpp has modules of TorchScript.
template <class ModuleOrHolder>
struct Watchable {
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
  static Describe Describer(ModuleOrHolder& module) {
    return [root = static_cast<const torch::nn::Module*>(&ModuleOf(module))] {
      std::vector<Described> all = {DescribeOne("", *root)};
      for (const auto& item : root->named_modules("", false)) all.push_back(DescribeOne(item.key(), *item.value()));
      return all;
    };
  }
};

inline void SayWhatIsHeld() {
  Modules::Get().SayAll();
  Optimizers::Get().SayAll();
}

template <class Watched>
constexpr bool kIsOptimizer = std::is_base_of_v<torch::optim::Optimizer, std::remove_const_t<Watched>>;

}  // namespace internal

// A model, or an optimizer, which is in recordings as long as this lives; this must end before it does. Modules that
// the model gets later are not: watch it anew. What an optimizer holds is said when a training step begins
// (memoir::Step()) and when this ends, unless memoir::Step(optimizer) says it.
class Watch {
 public:
  template <class Watched>
  explicit Watch(Watched& watched) {
    internal::Client::Get().describe = &internal::SayWhatIsHeld;
    if constexpr (internal::kIsOptimizer<Watched>) {
      optimizer_ = &watched;
      internal::Optimizers::Get().Add(optimizer_);
    } else {
      using Watchable = internal::Watchable<Watched>;
      root_ = Watchable::Key(watched);
      internal::Modules::Get().Add(root_, Watchable::Class(watched), Watchable::Describer(watched));
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

// A call of a watched module, on this thread, until the end of the scope. Of another module: nothing.
class Call {
 public:
  template <class ModuleOrHolder>
  explicit Call(ModuleOrHolder& module) : functions_(internal::Recording()) {
    if (functions_ == nullptr) return;
    number_ = internal::Modules::Get().NumberOf(*functions_, internal::Watchable<ModuleOrHolder>::Key(module));
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

// Calls the forward of a module that does not say so itself, such as one of torch's.
template <class ModuleOrHolder, class... Arguments>
auto Forward(ModuleOrHolder& module, Arguments&&... arguments) {
  const Call call(module);
  return internal::Watchable<ModuleOrHolder>::ModuleOf(module).forward(std::forward<Arguments>(arguments)...);
}

template <class Optimizer, class = std::enable_if_t<internal::kIsOptimizer<Optimizer>>>
torch::Tensor Step(Optimizer& optimizer, torch::optim::Optimizer::LossClosure closure = nullptr) {
  const Range range("Optimizer.step#" + internal::ClassName(typeid(optimizer)) + ".step");
  torch::Tensor loss = optimizer.step(std::move(closure));
  internal::Optimizers::Get().IsStepped(&optimizer);
  if (const internal::Functions* functions = internal::Recording()) internal::Holdings(*functions, optimizer);
  return loss;
}

template <class Optimizer, class = std::enable_if_t<internal::kIsOptimizer<Optimizer>>>
void ZeroGrad(Optimizer& optimizer, bool set_to_none = true) {
  const Range range("Optimizer.zero_grad#" + internal::ClassName(typeid(optimizer)) + ".zero_grad");
  optimizer.zero_grad(set_to_none);
}

}  // namespace memoir

#endif  // TRACKER_CLIENT_TORCH_HPP_
