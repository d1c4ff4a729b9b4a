// Records page-locked host memory (x.pin_memory(), data loaders): the blocks that the program requests from torch's
// CUDA host allocator.
//
// Memoir does not replace the allocator object, only the entry of `allocate` in the virtual table of its class
// (docs/decisions/0016-pinned-memory.md). A block keeps its address and its context, by which torch identifies the
// block later (record_event). Its deleter is replaced by a function that records and then calls the inner deleter. The
// driver allocations in which these blocks lie are not recorded here. They differ from the blocks, because torch rounds
// requests up and keeps freed blocks for later requests.
#ifndef TRACKER_TORCH_HOST_ALLOCATORS_PINNED_ALLOCATOR_HOOK_H_
#define TRACKER_TORCH_HOST_ALLOCATORS_PINNED_ALLOCATOR_HOOK_H_

namespace memoir {

// Installs the hook once; it is never removed. Does nothing if torch has no CUDA, if torch is older than 2.8, or if the
// class of the allocator is unknown. Call it at the start of each recording, while recording is off.
void InstallPinnedAllocatorHook();

}  // namespace memoir

#endif  // TRACKER_TORCH_HOST_ALLOCATORS_PINNED_ALLOCATOR_HOOK_H_
