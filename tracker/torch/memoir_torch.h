// Tells Memoir what a libtorch program consists of: its modules, their parameters and buffers, its optimizers and their
// state, so that a recording says of it what it says of the same program in Python. Header only; installed beside
// memoir.h.
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

#include <c10/util/Type.h>
#include <dlfcn.h>
#include <memoir/memoir.h>
#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/optim.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <unordered_map>
#include <utility>
#include <vector>

namespace memoir {
namespace internal {

// Memoir's functions in this process; nullptr: it is not there.
struct Functions {
  decltype(&memoir_level) level;
  decltype(&memoir_recordings) recordings;
  decltype(&memoir_recording_modules) recording_modules;
  decltype(&memoir_parts) parts;
  decltype(&memoir_define_module) define_module;
  decltype(&memoir_enter_module) enter_module;
  decltype(&memoir_exit_module) exit_module;
  decltype(&memoir_module_holds) module_holds;
  decltype(&memoir_forget_parameter) forget_parameter;
  decltype(&memoir_optimizer_holds) optimizer_holds;
  decltype(&memoir_begin_range) begin_range;
  decltype(&memoir_end_range) end_range;
  decltype(&memoir_step) step;
  decltype(&memoir_mark) mark;

  template <class Function>
  static bool Find(const char* name, Function* function) {
    *function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
    return *function != nullptr;
  }
  static const Functions* Look() {
    static Functions found;
    const bool all =
        Find("memoir_level", &found.level) && Find("memoir_recordings", &found.recordings) &&
        Find("memoir_recording_modules", &found.recording_modules) && Find("memoir_parts", &found.parts) &&
        Find("memoir_define_module", &found.define_module) && Find("memoir_enter_module", &found.enter_module) &&
        Find("memoir_exit_module", &found.exit_module) && Find("memoir_module_holds", &found.module_holds) &&
        Find("memoir_forget_parameter", &found.forget_parameter) &&
        Find("memoir_optimizer_holds", &found.optimizer_holds) && Find("memoir_begin_range", &found.begin_range) &&
        Find("memoir_end_range", &found.end_range) && Find("memoir_step", &found.step) &&
        Find("memoir_mark", &found.mark);
    return all ? &found : nullptr;
  }
  static const Functions* Get() {
    static const Functions* const functions = Look();
    return functions;
  }
  // While operators are recorded.
  static const Functions* Recording() {
    const Functions* functions = Get();
    return functions != nullptr && functions->level() == MEMOIR_ALL ? functions : nullptr;
  }
};

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

// The modules that are watched, by address, and their numbers in the recording that runs. One of a process.
class Modules {
 public:
  using Module = torch::nn::Module;

  static Modules& Get() {
    static Modules* const modules = new Modules;  // modules may be destroyed until the very end
    return *modules;
  }

  void Add(const Module* root) {
    const std::lock_guard<std::mutex> lock(mutex_);
    roots_.push_back(root);
    if (const Functions* functions = Functions::Recording(); functions != nullptr && Recorded(*functions))
      Name(*functions, *root);
  }

  void Remove(const Module* root) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto known = std::find(roots_.begin(), roots_.end(), root);
    if (known != roots_.end()) roots_.erase(known);
    const auto named = named_.find(root);
    if (named == named_.end()) return;
    for (const Part& part : named->second) Forget(part);
    named_.erase(named);
  }

  // 0: it is not watched, or nothing is recorded.
  std::uint32_t NumberOf(const Functions& functions, const Module& module) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!Recorded(functions)) return 0;
    const auto known = numbers_.find(&module);
    return known == numbers_.end() ? 0 : known->second;
  }

 private:
  struct Part {
    const Module* module;
    std::uint32_t number;
    std::vector<std::uint64_t> parameters;
  };

  // Whether modules are recorded. Names all anew in a recording of its own, and in a new part of its capture.
  bool Recorded(const Functions& functions) {
    const std::uint64_t recording = functions.recordings();
    const std::uint64_t parts = functions.parts();
    if (recording == recording_ && parts == parts_) return records_modules_;
    if (recording != recording_) records_modules_ = functions.recording_modules() == 1;
    recording_ = recording;
    parts_ = parts;
    numbers_.clear();
    named_.clear();
    if (records_modules_) {
      for (const Module* root : roots_) Name(functions, *root);
    }
    return records_modules_;
  }

  void Name(const Functions& functions, const Module& root) {
    std::vector<Part>& parts = named_[&root];
    const std::string label = LabelOf(root);
    AddOne(functions, label, "", root, &parts);
    for (const auto& item : root.named_modules("", false)) Add(functions, label, item.key(), *item.value(), &parts);
  }

  void Add(const Functions& functions, const std::string& root, const std::string& path, const Module& module,
           std::vector<Part>* parts) {
    if (numbers_.find(&module) == numbers_.end()) AddOne(functions, root, path, module, parts);
  }

  void AddOne(const Functions& functions, const std::string& root, const std::string& path, const Module& module,
              std::vector<Part>* parts) {
    const std::uint32_t number =
        functions.define_module(root.c_str(), path.c_str(), ClassName(typeid(module)).c_str());
    numbers_[&module] = number;
    const auto parameters = module.named_parameters(false);
    const auto buffers = module.named_buffers(false);
    Part part{&module, number, {}};
    const std::vector<memoir_held> held = HeldIn(parameters), others = HeldIn(buffers);
    for (const memoir_held& one : held) part.parameters.push_back(reinterpret_cast<std::uint64_t>(one.tensor));
    functions.module_holds(number, held.data(), held.size(), others.data(), others.size());
    parts->push_back(std::move(part));
  }

  template <class Tensors>
  static std::vector<memoir_held> HeldIn(const Tensors& tensors) {
    std::vector<memoir_held> held;
    for (const auto& item : tensors) {
      if (item.value().defined()) held.push_back({item.value().unsafeGetTensorImpl(), item.key().c_str()});
    }
    return held;
  }

  // A second root of a class has a number behind it.
  std::string LabelOf(const Module& root) const {
    const std::string name = ClassName(typeid(root));
    std::size_t number = 1;
    for (const Module* other : roots_) {
      if (other == &root) break;
      number += ClassName(typeid(*other)) == name;
    }
    return number == 1 ? name : name + "#" + std::to_string(number);
  }

  void Forget(const Part& part) {
    numbers_.erase(part.module);
    const Functions* functions = Functions::Get();
    if (functions == nullptr) return;
    for (const std::uint64_t parameter : part.parameters) functions->forget_parameter(parameter, part.number);
  }

  std::mutex mutex_;
  std::vector<const Module*> roots_;
  std::unordered_map<const Module*, std::uint32_t> numbers_;
  std::unordered_map<const Module*, std::vector<Part>> named_;  // by root
  std::uint64_t recording_ = 0, parts_ = 0;
  bool records_modules_ = false;
};

// The tensors in the state of a parameter, whatever the optimizer. Those in lists have the lowest bit set (memoir.h).
class State {
 public:
  explicit State(const torch::optim::OptimizerParamState& state) {
    using namespace torch::optim;
    if (const auto* adam = dynamic_cast<const AdamParamState*>(&state)) {
      Take(adam->exp_avg(), adam->exp_avg_sq(), adam->max_exp_avg_sq());
    } else if (const auto* adamw = dynamic_cast<const AdamWParamState*>(&state)) {
      Take(adamw->exp_avg(), adamw->exp_avg_sq(), adamw->max_exp_avg_sq());
    } else if (const auto* sgd = dynamic_cast<const SGDParamState*>(&state)) {
      Take(sgd->momentum_buffer());
    } else if (const auto* rms = dynamic_cast<const RMSpropParamState*>(&state)) {
      Take(rms->square_avg(), rms->momentum_buffer(), rms->grad_avg());
    } else if (const auto* ada = dynamic_cast<const AdagradParamState*>(&state)) {
      Take(ada->sum());
    } else if (const auto* lbfgs = dynamic_cast<const LBFGSParamState*>(&state)) {
      Take(lbfgs->d(), lbfgs->H_diag(), lbfgs->prev_flat_grad());
      TakeListed(lbfgs->old_dirs());
      TakeListed(lbfgs->old_stps());
      TakeListed(lbfgs->ro());
      if (lbfgs->al()) TakeListed(*lbfgs->al());
    }
  }
  const std::vector<const void*>& tensors() const { return tensors_; }

 private:
  static constexpr std::size_t kMost = 512;

  template <class... Tensors>
  void Take(const Tensors&... tensors) {
    (Add(tensors, 0), ...);
  }
  template <class List>
  void TakeListed(const List& list) {
    for (const torch::Tensor& tensor : list) Add(tensor, 1);
  }
  void Add(const torch::Tensor& tensor, std::uintptr_t mark) {
    if (!tensor.defined() || tensors_.size() == kMost) return;
    const auto address = reinterpret_cast<std::uintptr_t>(tensor.unsafeGetTensorImpl());
    tensors_.push_back(reinterpret_cast<const void*>(address | mark));
  }

  std::vector<const void*> tensors_;
};

// Says what an optimizer holds, in as many calls as it takes.
class Holdings {
 public:
  Holdings(const Functions& functions, torch::optim::Optimizer& optimizer)
      : functions_(functions), optimizer_(reinterpret_cast<std::uint64_t>(&optimizer)) {
    const auto& states = optimizer.state();
    for (const torch::optim::OptimizerParamGroup& group : optimizer.param_groups()) {
      for (const torch::Tensor& parameter : group.params()) {
        if (!parameter.defined()) continue;
        const auto state = states.find(parameter.unsafeGetTensorImpl());
        Add(parameter, state == states.end() ? std::vector<const void*>() : State(*state->second).tensors());
      }
    }
    if (!parameters_.empty()) Say();
  }

 private:
  static constexpr std::size_t kMostParameters = 126, kMostState = 512;

  void Add(const torch::Tensor& parameter, const std::vector<const void*>& state) {
    if (parameters_.size() == kMostParameters || state_.size() + state.size() > kMostState) Say();
    parameters_.push_back(parameter.unsafeGetTensorImpl());
    counts_.push_back(static_cast<std::uint32_t>(state.size()));
    state_.insert(state_.end(), state.begin(), state.end());
  }
  void Say() {
    functions_.optimizer_holds(optimizer_, parameters_.data(), parameters_.size(), state_.data(), counts_.data(),
                               more_);
    more_ = 1;
    parameters_.clear();
    state_.clear();
    counts_.clear();
  }

  const Functions& functions_;
  std::uint64_t optimizer_;
  std::vector<const void*> parameters_, state_;
  std::vector<std::uint32_t> counts_;
  int more_ = 0;
};

// A range as Python's record_function makes one. Not an at::RecordFunction of the program's: its layout is another one
// where the program is compiled without NDEBUG.
class Range {
 public:
  explicit Range(const std::string& name) : functions_(Functions::Recording()) {
    if (functions_ != nullptr) range_ = functions_->begin_range(name.c_str());
  }
  ~Range() {
    if (range_ != nullptr) functions_->end_range(range_);
  }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

 private:
  const Functions* functions_;
  void* range_ = nullptr;
};

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
