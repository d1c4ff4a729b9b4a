// The modules that a libtorch program watches, and what they hold. A part of memoir_torch.h: include that instead.
#ifndef TRACKER_TORCH_MEMOIR_MODULES_H_
#define TRACKER_TORCH_MEMOIR_MODULES_H_

#include <memoir/memoir.h>
#include <memoir/memoir_functions.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <typeinfo>
#include <unordered_map>
#include <utility>
#include <vector>

namespace memoir {
namespace internal {

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
    const std::uint32_t number = functions.define_module(root.c_str(), path.c_str(), ClassName(typeid(module)).c_str());
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

}  // namespace internal
}  // namespace memoir

#endif  // TRACKER_TORCH_MEMOIR_MODULES_H_
