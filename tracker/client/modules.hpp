// Reports the modules that a libtorch program watches, with their tensors. A part of memoir/torch.hpp; include
// torch.hpp instead.
#ifndef TRACKER_CLIENT_MODULES_HPP_
#define TRACKER_CLIENT_MODULES_HPP_

#include <ATen/core/Tensor.h>
#include <memoir.h>
#include <memoir.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace memoir {
namespace internal {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

// Describes one module of a model, whether from torch::nn or from TorchScript. `module` is the address that
// memoir::Call passes to Modules::NumberOf for this module.
struct ModuleDescription {
  const void* module;
  std::string path;  // from the root; "" is the root itself
  std::string class_name;
  NamedTensors parameters, buffers;  // without the tensors of modules inside of this module
};

// Describes a root and all modules below it: first the root, then each other module once.
using ModuleDescriber = std::function<std::vector<ModuleDescription>()>;

// The watched modules; one object per process. Maps the address of each module to its number in the running recording,
// the result of memoir_define_module.
class Modules {
 public:
  static Modules& Get() {
    static Modules* const modules = new Modules;  // never freed: modules may be destroyed as late as at exit
    return *modules;
  }

  // Begins to watch the model with this root. Reports its modules if a recording runs.
  void Add(const void* root, std::string class_name, ModuleDescriber describe) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const Functions* functions = Find(true) == nullptr ? nullptr : Recording();
    const bool named = functions != nullptr && IsRecorded(*functions);
    roots_.push_back({root, std::move(class_name), std::move(describe)});
    if (named) Name(*functions, roots_.back());
  }

  void Remove(const void* root) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto is_it = [root](const Root& known) { return known.module == root; };
    const auto known = std::find_if(roots_.begin(), roots_.end(), is_it);
    if (known != roots_.end()) roots_.erase(known);
    const auto named = named_.find(root);
    if (named == named_.end()) return;
    for (const ReportedModule& part : named->second) Forget(part);
    named_.erase(named);
  }

  // Reports all watched modules, if a recording or one of its parts has begun since the last report.
  void ReportAll() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (const Functions* functions = Recording()) IsRecorded(*functions);
  }

  // Returns the module's number; 0 if the module is not watched, or nothing is recorded.
  std::uint32_t NumberOf(const Functions& functions, const void* module) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!IsRecorded(functions)) return 0;
    const auto known = numbers_.find(module);
    return known == numbers_.end() ? 0 : known->second;
  }

 private:
  struct Root {
    const void* module;
    std::string class_name;
    ModuleDescriber describe;
  };
  struct ReportedModule {
    const void* module;
    std::uint32_t number;
    std::vector<std::uint64_t> parameters;
  };

  // Returns true if modules are recorded. If a new recording, or a new part of its capture, has begun since the last
  // call, reports all modules again.
  bool IsRecorded(const Functions& functions) {
    const std::uint64_t recording = functions.recordings();
    const std::uint64_t parts = functions.parts();
    if (recording == recording_ && parts == parts_) return records_modules_;
    if (recording != recording_) records_modules_ = functions.recording_modules() == 1;
    recording_ = recording;
    parts_ = parts;
    numbers_.clear();
    named_.clear();
    if (records_modules_) {
      for (const Root& root : roots_) Name(functions, root);
    }
    return records_modules_;
  }

  // Reports the root and all modules below it, except for modules that were reported with another root.
  void Name(const Functions& functions, const Root& root) {
    std::vector<ReportedModule>& parts = named_[root.module];
    const std::string label = LabelOf(root);
    for (const ModuleDescription& one : root.describe()) {
      if (numbers_.find(one.module) == numbers_.end()) parts.push_back(ReportModule(functions, label, one));
    }
  }

  ReportedModule ReportModule(const Functions& functions, const std::string& root, const ModuleDescription& one) {
    const std::uint32_t number = functions.define_module(root.c_str(), one.path.c_str(), one.class_name.c_str());
    numbers_[one.module] = number;
    ReportedModule part{one.module, number, {}};
    const std::vector<memoir_held> held = HeldTensors(one.parameters), others = HeldTensors(one.buffers);
    for (const memoir_held& tensor : held) part.parameters.push_back(reinterpret_cast<std::uint64_t>(tensor.tensor));
    functions.module_holds(number, held.data(), held.size(), others.data(), others.size());
    return part;
  }

  static std::vector<memoir_held> HeldTensors(const NamedTensors& tensors) {
    std::vector<memoir_held> held;
    for (const auto& [name, tensor] : tensors) {
      if (tensor.defined()) held.push_back({tensor.unsafeGetTensorImpl(), name.c_str()});
    }
    return held;
  }

  // Returns the name of the root's class. "#2" is appended for the second root with the same class, and so on.
  std::string LabelOf(const Root& root) const {
    std::size_t number = 1;
    for (const Root& other : roots_) {
      if (other.module == root.module) break;
      number += other.class_name == root.class_name;
    }
    return number == 1 ? root.class_name : root.class_name + "#" + std::to_string(number);
  }

  void Forget(const ReportedModule& part) {
    numbers_.erase(part.module);
    const Functions* functions = Find();
    if (functions == nullptr) return;
    for (const std::uint64_t parameter : part.parameters) functions->forget_parameter(parameter, part.number);
  }

  std::mutex mutex_;
  std::vector<Root> roots_;
  std::unordered_map<const void*, std::uint32_t> numbers_;
  std::unordered_map<const void*, std::vector<ReportedModule>> named_;  // key: address of the root
  std::uint64_t recording_ = 0, parts_ = 0;
  bool records_modules_ = false;
};

}  // namespace internal
}  // namespace memoir

#endif  // TRACKER_CLIENT_MODULES_HPP_
