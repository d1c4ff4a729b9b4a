// Tells Memoir what a libtorch program consists of: its modules, their parameters and buffers, its optimizers and their
// state, so that a recording says of it what it says of the same program in Python. Header only; installed beside
// memoir.h, with the three parts that it includes.
//
//     memoir::Watch watch(*net);                       // names the modules of `net`, and what they hold
//     torch::Tensor NetImpl::forward(torch::Tensor x) {
//       memoir::Call call(*this);                      // this module runs until the end of the scope
//       return memoir::Forward(fc2, torch::relu(memoir::Forward(fc1, x)));
//     }
//     memoir::ZeroGrad(optimizer);                     // optimizer.zero_grad(), as a range
//     memoir::Step(optimizer);                         // optimizer.step(), as a range, and what it holds then
//
// Links nothing of Memoir's: its functions are looked up once, at the first use. Where they are not, because the
// program runs without Memoir, each call is the test of a pointer. Any thread; a module is watched, called and
// destroyed as torch itself allows it.
#ifndef TRACKER_TORCH_MEMOIR_TORCH_H_
#define TRACKER_TORCH_MEMOIR_TORCH_H_

#include <memoir/memoir_functions.h>
#include <memoir/memoir_modules.h>
#include <memoir/memoir_optimizers.h>
#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/optim.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace memoir {
namespace internal {

template <class ModuleOrHolder>
auto& ModuleOf(ModuleOrHolder& module) {
  if constexpr (std::is_base_of_v<torch::nn::Module, std::remove_const_t<ModuleOrHolder>>) {
    return module;
  } else {
    return *module;  // a ModuleHolder such as torch::nn::Linear, or a pointer
  }
}

}  // namespace internal

// A model whose modules are in recordings as long as this lives, which must end before the model does. Modules that it
// gets later are not: watch it anew.
class Watch {
 public:
  template <class ModuleOrHolder>
  explicit Watch(ModuleOrHolder& root) : root_(&internal::ModuleOf(root)) {
    internal::Modules::Get().Add(root_);
  }
  ~Watch() { internal::Modules::Get().Remove(root_); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  const torch::nn::Module* root_;
};

// A call of a watched module, on this thread, until the end of the scope. Of another module: nothing.
class Call {
 public:
  explicit Call(const torch::nn::Module& module) : functions_(internal::Functions::Recording()) {
    if (functions_ != nullptr) number_ = internal::Modules::Get().NumberOf(*functions_, module);
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
  auto& called = internal::ModuleOf(module);
  const Call call(called);
  return called.forward(std::forward<Arguments>(arguments)...);
}

template <class Optimizer>
torch::Tensor Step(Optimizer& optimizer, torch::optim::Optimizer::LossClosure closure = nullptr) {
  const std::string name = internal::ClassName(typeid(optimizer));
  const internal::Range range("Optimizer.step#" + name + ".step");
  torch::Tensor loss = optimizer.step(std::move(closure));
  if (const internal::Functions* functions = internal::Functions::Recording())
    internal::Holdings(*functions, optimizer);
  return loss;
}

template <class Optimizer>
void ZeroGrad(Optimizer& optimizer, bool set_to_none = true) {
  const std::string name = internal::ClassName(typeid(optimizer));
  const internal::Range range("Optimizer.zero_grad#" + name + ".zero_grad");
  optimizer.zero_grad(set_to_none);
}

// The start of a training step, and a named instant.
inline void StepBegins(std::uint64_t step) {
  if (const internal::Functions* functions = internal::Functions::Get()) functions->step(step);
}
inline void Mark(const std::string& text) {
  if (const internal::Functions* functions = internal::Functions::Get()) functions->mark(text.c_str());
}

}  // namespace memoir

#endif  // TRACKER_TORCH_MEMOIR_TORCH_H_
