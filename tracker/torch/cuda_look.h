// Requests to call FindCudaBlocks (hooks.h) on a thread of the program. The hooks of CUDA's allocators make a request;
// the hooks of ranges make the call at the next range. Any thread.
#ifndef TRACKER_TORCH_CUDA_LOOK_H_
#define TRACKER_TORCH_CUDA_LOOK_H_

#include <atomic>
#include <cstdint>

namespace memoir {

// The reasons for a request.
enum CudaLook : std::uint8_t {
  kBlockSeen = 1,  // a first block was seen, and CudaIsReady had not been called
  kAsked = 2,      // FindCudaBlocksLater was called, or another attempt is necessary
};
extern constinit std::atomic<std::uint8_t> cuda_look;
inline bool CudaLookIsDue() { return cuda_look.load(std::memory_order_relaxed) != 0; }

}  // namespace memoir

#endif  // TRACKER_TORCH_CUDA_LOOK_H_
