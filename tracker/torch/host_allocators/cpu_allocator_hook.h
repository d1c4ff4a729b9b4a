// Records every allocation and deallocation of CPU tensors, on every thread, with a wrapper around torch's CPU
// allocator. `allocate` of the default allocator below the wrapper is also redirected (allocate_redirection.h), because
// torch.UntypedStorage() uses that allocator directly.
//
// The wrapper returns the inner allocator's block with another deleter, which records and then calls the inner deleter.
// So other observers (torch.profiler) are not affected. The serial of an allocation is taken after the inner allocate,
// and the serial of a deallocation before the inner deleter. So the serials of an address have the true order
// (docs/event_schema.md). Blocks that were allocated before the wrapper existed keep their old deleter.
#ifndef TRACKER_TORCH_HOST_ALLOCATORS_CPU_ALLOCATOR_HOOK_H_
#define TRACKER_TORCH_HOST_ALLOCATORS_CPU_ALLOCATOR_HOOK_H_

namespace memoir {

// Installs the wrapper, which is never removed. Call it once, while no other thread can use SetCPUAllocator, because
// that function takes no lock.
void InstallCpuAllocatorHook();

}  // namespace memoir

#endif  // TRACKER_TORCH_HOST_ALLOCATORS_CPU_ALLOCATOR_HOOK_H_
