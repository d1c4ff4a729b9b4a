#include "tracker/torch/hooks.h"

#include <ATen/record_function.h>
#include <torch/version.h>

#include <memory>
#include <string>

#include "tracker/modules/compiler_work.h"
#include "tracker/torch/cuda_allocator/cuda_allocator_hook.h"
#include "tracker/torch/host_allocators/cpu_allocator_hook.h"
#include "tracker/torch/host_allocators/pinned_allocator_hook.h"
#include "tracker/torch/publication/memory_publication.h"
#include "tracker/torch/ranges/backward_nodes.h"
#include "tracker/torch/ranges/dispatch_fallback.h"
#include "tracker/torch/ranges/nvtx_ranges.h"
#include "tracker/torch/ranges/operator_names.h"
#include "tracker/torch/ranges/range_hook.h"

// Installs the hooks of all folders of tracker/torch, and implements the functions of hooks.h that no single one of
// these folders implements.
namespace memoir {

OperatorHook PrepareOperatorHook(OperatorHook asked, char* problem, std::size_t size) {
  const bool dispatch = asked == OperatorHook::kDispatch && RegisterDispatchFallback(problem, size);
  return dispatch ? OperatorHook::kDispatch : OperatorHook::kRanges;
}

void InstallTorchHooks(OperatorHook operators, bool publishes) {
  PrepareOperatorNames();
  const bool dispatched = operators == OperatorHook::kDispatch;
  InstallRangeHook(dispatched ? RangeScopes::kWithoutFunctions : RangeScopes::kAll);
  RecordDispatchedOperators(dispatched);
  PreparePublication(publishes);
  InstallCudaAllocatorHook();
  InstallPinnedAllocatorHook();
  static bool installed = false;
  if (installed) return;
  installed = true;
  InstallCpuAllocatorHook();
  InstallNvtxRanges();
}

void* BeginUserRange(const char* name) {
  auto range = std::make_unique<at::RecordFunction>(at::RecordScope::USER_SCOPE);
  if (!range->isActive()) return nullptr;
  range->before(std::string(name));
  return range.release();
}

void EndUserRange(void* range) { delete static_cast<at::RecordFunction*>(range); }

bool InBackwardOrCompiler() { return InBackwardNode() || InCompiler(); }

const char* CompiledTorchVersion() { return TORCH_VERSION; }

}  // namespace memoir
