// Records the program's allocations and deallocations of CUDA memory if the allocator does not report its blocks:
// cudaMallocAsync, a pluggable allocator, or torch's own without its cache. Segments are not recorded. This is called
// device level.
//
// As in pinned_allocator_hook.h, `allocate` of the allocator's class is redirected, and each block gets a deleter that
// records and then calls the inner deleter. Requests that call raw_alloc instead of `allocate` (memory pools with a
// separate allocator, NCCL) are not recorded here; readers see them only as driver allocations.
#ifndef TRACKER_TORCH_CUDA_ALLOCATOR_DEVICE_LEVEL_HOOK_H_
#define TRACKER_TORCH_CUDA_ALLOCATOR_DEVICE_LEVEL_HOOK_H_

#include <c10/core/Allocator.h>

namespace memoir {

// Installs the hook once in a process; it is never removed. At each allocation the hook calls `reports`, which returns
// true if the allocator now reports its blocks itself, because the program has switched the allocator's cache on. The
// hook then leaves the block unchanged. InstallDeviceLevelHook returns false if the hook cannot be installed. Call it
// on one thread at a time, which holds no lock of torch.
bool InstallDeviceLevelHook(c10::Allocator* allocator, bool (*reports)());

}  // namespace memoir

#endif  // TRACKER_TORCH_CUDA_ALLOCATOR_DEVICE_LEVEL_HOOK_H_
