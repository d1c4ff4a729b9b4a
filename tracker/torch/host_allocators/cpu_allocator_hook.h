// Records every allocation and deallocation of CPU tensors, on every thread. Memoir sets a recording allocator as
// torch's CPU allocator. The recording allocator calls the allocator that was set before, the inner allocator. If the
// inner allocator is torch's default allocator, its `allocate` is also redirected (allocate_redirection.h), because
// torch.UntypedStorage() uses the default allocator directly.
//
// The recording allocator returns the inner allocator's block with another deleter, which records and then calls the
// inner deleter. So other observers (torch.profiler) are not affected. The serial of an allocation is taken after the
// inner allocator has returned, and the serial of a deallocation before the inner deleter is called. So the serials of
// an address have the true order (docs/event_schema.md). Blocks that were allocated before the hook was installed keep
// their deleter, so their deallocation is not recorded.
#ifndef TRACKER_TORCH_HOST_ALLOCATORS_CPU_ALLOCATOR_HOOK_H_
#define TRACKER_TORCH_HOST_ALLOCATORS_CPU_ALLOCATOR_HOOK_H_

namespace memoir {

// Installs the recording allocator, which is never removed. Call it once, while no other thread can use
// SetCPUAllocator, because that function takes no lock.
void InstallCpuAllocatorHook();

}  // namespace memoir

#endif  // TRACKER_TORCH_HOST_ALLOCATORS_CPU_ALLOCATOR_HOOK_H_
