#include "tracker/torch/hooks.h"

#include <torch/version.h>

#include "tracker/torch/cpu_allocator_hook.h"
#include "tracker/torch/cuda_allocator_hook.h"
#include "tracker/torch/dispatch_fallback.h"
#include "tracker/torch/operator_names.h"
#include "tracker/torch/pinned_allocator_hook.h"
#include "tracker/torch/range_hook.h"

namespace memoir {

OperatorHook PrepareOperatorHook(OperatorHook asked, char* problem, std::size_t size) {
  const bool dispatch = asked == OperatorHook::kDispatch && RegisterDispatchFallback(problem, size);
  return dispatch ? OperatorHook::kDispatch : OperatorHook::kRanges;
}

void InstallTorchHooks(OperatorHook operators) {
  PrepareOperatorNames();
  const bool dispatched = operators == OperatorHook::kDispatch;
  InstallRangeHook(dispatched ? RangeScopes::kWithoutFunctions : RangeScopes::kAll);
  RecordDispatchedOperators(dispatched);
  InstallCudaAllocatorHook();
  InstallPinnedAllocatorHook();
  static bool installed = false;
  if (installed) return;
  installed = true;
  InstallCpuAllocatorHook();
}

const char* TorchVersion() { return TORCH_VERSION; }

}  // namespace memoir
