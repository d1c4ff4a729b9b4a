// Every allocation and deallocation of CPU tensors, on every thread: a wrapper around torch's CPU allocator.
//
// It hands out what the inner allocator gave, with a deleter that records and then calls the inner deleter, so other
// observers (torch.profiler) see what they saw before. Serials are taken after the inner allocate and before the inner
// deleter: on every address they are in the order of truth (docs/event_schema.md). Memory from before the wrapper keeps
// its old deleter.
#ifndef TRACKER_TORCH_CPU_ALLOCATOR_HOOK_H_
#define TRACKER_TORCH_CPU_ALLOCATOR_HOOK_H_

namespace memoir {

// Puts the wrapper in place. Call once, on a thread that may change torch's allocator (SetCPUAllocator has no lock).
// Never taken out.
void InstallCpuAllocatorHook();

}  // namespace memoir

#endif  // TRACKER_TORCH_CPU_ALLOCATOR_HOOK_H_
