#include "tracker/torch/hooks.h"

#include <torch/version.h>

#include "tracker/torch/cpu_allocator_hook.h"
#include "tracker/torch/operator_names.h"
#include "tracker/torch/range_hook.h"

namespace memoir {

void InstallTorchHooks() {
  PrepareOperatorNames();
  static bool installed = false;
  if (installed) return;
  installed = true;
  InstallCpuAllocatorHook();
  InstallRangeHook();
}

const char* TorchVersion() { return TORCH_VERSION; }

}  // namespace memoir
