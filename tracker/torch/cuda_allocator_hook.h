// Memory of CUDA devices: what torch's caching allocator does, block by block, on every thread, stream and pool.
//
// Two sources, both under the allocator's lock of the device, where nothing may wait (docs/event_schema.md): its trace
// (what was asked, segments, frees that complete later, out of memory), and its report to the profiler, whose import
// slot in libc10_cuda.so is redirected (a block's bytes as rounded, which the trace does not tell). The tracker links
// nothing of CUDA: where torch has none, nothing here does anything.
//
// A tracker that is attached before torch has made its allocators attaches to nothing, so somebody must say when that
// is: Python's package (torch.cuda's queue of lazy calls), or else the first block, which is then found when the range
// around it ends.
#ifndef TRACKER_TORCH_CUDA_ALLOCATOR_HOOK_H_
#define TRACKER_TORCH_CUDA_ALLOCATOR_HOOK_H_

#include <atomic>
#include <cstdint>

namespace memoir {

// Redirects the report. Call at the start of each recording, while recording is off. Never taken out. The rest is in
// hooks.h.
void InstallCudaAllocatorHook();

// Why FindCudaBlocks is due with the next range of a thread of the program's, if it is.
enum CudaLook : std::uint8_t {
  kBlockSeen = 1,  // the first one, before anybody has called CudaIsReady
  kAsked = 2,      // FindCudaBlocksSoon, or another attempt
};
extern constinit std::atomic<std::uint8_t> cuda_look;
inline bool CudaLookIsDue() { return cuda_look.load(std::memory_order_relaxed) != 0; }

}  // namespace memoir

#endif  // TRACKER_TORCH_CUDA_ALLOCATOR_HOOK_H_
