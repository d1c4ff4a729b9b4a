// Requests for FindCudaBlocks (hooks.h), which records the live blocks of torch's CUDA allocator. A hook of the
// allocator runs under the allocator's lock and cannot call FindCudaBlocks itself, so it sets a bit here. The range
// hook then calls FindCudaBlocks when a range begins or ends on any thread of the program. Any thread.
#ifndef TRACKER_TORCH_CUDA_LOOK_H_
#define TRACKER_TORCH_CUDA_LOOK_H_

#include <atomic>
#include <cstdint>

namespace memoir {

// The bits of cuda_look: the reasons for a request. 0: there is no request.
enum CudaLook : std::uint8_t {
  kBlockSeen = 1,  // the allocator reported its first block before CudaIsReady was called
  kAsked = 2,      // FindCudaBlocksLater was called, or FindCudaBlocks failed and must be called again
};
extern constinit std::atomic<std::uint8_t> cuda_look;
inline bool CudaLookIsDue() { return cuda_look.load(std::memory_order_relaxed) != 0; }

}  // namespace memoir

#endif  // TRACKER_TORCH_CUDA_LOOK_H_
