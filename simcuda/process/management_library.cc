#include "simcuda/process/management_library.h"

#include <dlfcn.h>

#include <string>

namespace memoir::simcuda {

void LoadManagementLibrary() {
  Dl_info own{};
  if (dladdr(reinterpret_cast<const void*>(&LoadManagementLibrary), &own) == 0 || own.dli_fname == nullptr) return;
  const std::string path = own.dli_fname;
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  // In a wheel libnvidia-ml.so.1 is in the folder of this library; elsewhere it is in the subfolder "simulated".
  for (const char* name : {"simulated/libnvidia-ml.so.1", "libnvidia-ml.so.1"}) {
    if (dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) != nullptr) return;
  }
  dlerror();  // clears the error
}

namespace {

// Python programs may use NVML before they call CUDA. For other programs the library is loaded at their first call of
// CUDA, so that nvidia-smi, which opens the same name, still finds the real library.
__attribute__((constructor)) void LoadForPython() {
  if (dlsym(RTLD_DEFAULT, "Py_IsInitialized") != nullptr) LoadManagementLibrary();
}

}  // namespace

}  // namespace memoir::simcuda
