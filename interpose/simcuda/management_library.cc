#include "interpose/simcuda/management_library.h"

#include <dlfcn.h>

#include <string>

namespace memoir::simcuda {

void LoadManagementLibrary() {
  Dl_info own{};
  if (dladdr(reinterpret_cast<const void*>(&LoadManagementLibrary), &own) == 0 || own.dli_fname == nullptr) return;
  const std::string path = own.dli_fname;
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  // A wheel has this library in that folder itself.
  for (const char* name : {"simulated/libnvidia-ml.so.1", "libnvidia-ml.so.1"}) {
    if (dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) != nullptr) return;
  }
  dlerror();  // nobody's
}

}  // namespace memoir::simcuda
