// Page-locked host memory (x.pin_memory(), data loaders): what the program asked torch's CUDA host allocator for.
//
// The allocator is torch's own object, before and after; one slot of its class's table of virtual functions is
// redirected, that of `allocate` (docs/decisions/0016-pinned-memory.md). A block keeps its address and its context, by
// which torch finds it again (record_event); only its deleter is one that records and then calls the inner one. What
// was taken from the driver for it is not known here: blocks are rounded and kept for reuse.
#ifndef TRACKER_TORCH_PINNED_ALLOCATOR_HOOK_H_
#define TRACKER_TORCH_PINNED_ALLOCATOR_HOOK_H_

namespace memoir {

// Puts the hook in place, once. Where torch has no CUDA, or is older than 2.8, or its allocator is another class than
// the one that is known, there is nothing to do. Never taken out. Call at the start of each recording, while recording
// is off.
void InstallPinnedAllocatorHook();

}  // namespace memoir

#endif  // TRACKER_TORCH_PINNED_ALLOCATOR_HOOK_H_
