#include "tracker/cupti/cupti_library.h"

#include <dlfcn.h>

#include "interpose/imports/import_slots.h"

namespace memoir {
namespace {

constexpr const char* kNames[] = {"libcupti.so.13", "libcupti.so.12"};

const void* FirstDefinition() { return FindDefinition("cuptiGetVersion"); }

// Loads CUPTI. Tries NVIDIA's Python wheels first, in the folder of CUDA's runtime (CUDA 13) and in the folder of the
// wheel nvidia-cuda-cupti (CUDA 12), and then the loader's usual folders.
void LoadCupti() {
  Dl_info runtime{};
  if (const void* function = FindDefinition("cudaGetDevice"); function == nullptr || dladdr(function, &runtime) == 0)
    runtime.dli_fname = nullptr;
  const std::string path = runtime.dli_fname == nullptr ? "" : runtime.dli_fname;
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  for (const char* name : kNames) {
    if (!folder.empty() &&
        (dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr ||
         dlopen((folder + "../../cuda_cupti/lib/" + name).c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr))
      return;
    if (dlopen(name, RTLD_NOW | RTLD_LOCAL) != nullptr) return;
  }
}

const void* ObjectOf(const void* function) {
  Dl_info info{};
  return function != nullptr && dladdr(function, &info) != 0 ? info.dli_fbase : nullptr;
}

// Sets *function if `object` defines the function. All functions must come from one library, because each library has
// its own state.
template <class Function>
void Find(const char* name, const void* object, Function* function) {
  const void* found = FindDefinition(name);
  if (ObjectOf(found) == object) *function = reinterpret_cast<Function>(const_cast<void*>(found));
}

}  // namespace

std::string FindCupti(CuptiLibrary* library) {
  if (FirstDefinition() == nullptr) LoadCupti();
  const void* const object = ObjectOf(FirstDefinition());
  if (object == nullptr) return "there is no libcupti.so.13 or libcupti.so.12";
#define MEMOIR_CUPTI_FUNCTION(name) Find("cupti" #name, object, &library->name);
  MEMOIR_CUPTI_FUNCTIONS(MEMOIR_CUPTI_FUNCTION)
#undef MEMOIR_CUPTI_FUNCTION
  std::uint32_t version = 0;
  const CUptiResult result = library->GetVersion(&version);
  if (result != CUPTI_SUCCESS) return "CUPTI refuses: " + CuptiErrorText(*library, "cuptiGetVersion", result);
  if (version < kOldestCupti)
    return "CUPTI is older than CUDA 12's: its version is " + std::to_string(version) + ", and " +
           std::to_string(kOldestCupti) + " or later is needed";
#define MEMOIR_CUPTI_FUNCTION(name) \
  if (library->name == nullptr) return "CUPTI has no cupti" #name;
  MEMOIR_CUPTI_FUNCTIONS(MEMOIR_CUPTI_FUNCTION)
#undef MEMOIR_CUPTI_FUNCTION
  return "";
}

std::string CuptiErrorText(const CuptiLibrary& library, const char* call, CUptiResult result) {
  const char* text = nullptr;
  if (library.GetResultString != nullptr) library.GetResultString(result, &text);
  return std::string(call) + ": " + (text == nullptr ? "error " + std::to_string(static_cast<int>(result)) : text);
}

}  // namespace memoir
