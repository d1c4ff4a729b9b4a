// CUDA memory where torch's allocator tells of no blocks (cudaMallocAsync, a pluggable allocator, the native one with
// its cache switched off): what the program asks it for, at device level: allocations and deallocations, no segments.
//
// As pinned_allocator_hook.h: the class's `allocate` is redirected, and a block's deleter is one that records and then
// calls the inner one. What goes past it (raw_alloc: memory pools with an allocator of their own, NCCL) has the records
// of the driver's calls alone.
#ifndef TRACKER_TORCH_DEVICE_LEVEL_HOOK_H_
#define TRACKER_TORCH_DEVICE_LEVEL_HOOK_H_

#include <c10/core/Allocator.h>

namespace memoir {

// Once for a process; never taken out. `tells` is asked at each allocation whether the allocator, of which a program
// may have switched the cache on again, tells of its blocks by now: such blocks are left as they are. False: it cannot
// be done. One thread at a time; no lock of torch's.
bool InstallDeviceLevelHook(c10::Allocator* allocator, bool (*tells)());

}  // namespace memoir

#endif  // TRACKER_TORCH_DEVICE_LEVEL_HOOK_H_
