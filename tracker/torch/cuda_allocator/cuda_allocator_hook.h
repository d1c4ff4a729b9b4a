// Records everything that torch's caching CUDA allocator does with each block, on every thread, stream and pool.
//
// torch calls two hooks under the allocator's lock of the device, where nothing may wait (docs/event_schema.md):
// - The trace tracker, an allocator callback, receives requests, segments, completed frees and out-of-memory errors.
// - The function that reports to torch's profiler receives rounded bytes of blocks. Memoir redirects its import slots.
//
// Memoir's tracker links no CUDA library. If torch has no CUDA, the functions do nothing.
//
// torch's allocators call a trace tracker only if it was attached after torch had made them. So the Python package
// attaches it through torch.cuda's queue of lazy calls. Without Python, Memoir attaches it when the range around the
// first CUDA allocation ends, and then takes a snapshot of the allocator, which contains the block of this allocation.
#ifndef TRACKER_TORCH_CUDA_ALLOCATOR_CUDA_ALLOCATOR_HOOK_H_
#define TRACKER_TORCH_CUDA_ALLOCATOR_CUDA_ALLOCATOR_HOOK_H_

namespace memoir {

// Redirects the allocator's report to torch's profiler. The redirection is never undone. Call it at the start of each
// recording, while recording is off. hooks.h declares the other functions.
void InstallCudaAllocatorHook();

}  // namespace memoir

#endif  // TRACKER_TORCH_CUDA_ALLOCATOR_CUDA_ALLOCATOR_HOOK_H_
