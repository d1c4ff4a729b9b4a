// Memoir's functions as memoir_torch.h finds them, and ranges by them. A part of that header: include it instead.
#ifndef TRACKER_TORCH_MEMOIR_FUNCTIONS_H_
#define TRACKER_TORCH_MEMOIR_FUNCTIONS_H_

#include <c10/util/Type.h>
#include <dlfcn.h>
#include <memoir/memoir.h>

#include <cstddef>
#include <string>
#include <typeinfo>

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

}  // namespace internal
}  // namespace memoir

#endif  // TRACKER_TORCH_MEMOIR_FUNCTIONS_H_
