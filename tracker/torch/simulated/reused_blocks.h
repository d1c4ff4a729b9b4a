// Blocks that torch's CUDA allocator hands out again read as zero, as device memory does that nothing has written:
// kernels do not write, and what a copy brought into a block would otherwise be its next owner's result.
#ifndef TRACKER_TORCH_SIMULATED_REUSED_BLOCKS_H_
#define TRACKER_TORCH_SIMULATED_REUSED_BLOCKS_H_

namespace memoir {

// Follows the allocator from now on, once it has its devices; cheap when that was done, or cannot be yet. The first
// block of a segment is fresh, so it is enough to be called after an operator that may have allocated one. Any thread.
void FollowReusedBlocks();

}  // namespace memoir

#endif  // TRACKER_TORCH_SIMULATED_REUSED_BLOCKS_H_
