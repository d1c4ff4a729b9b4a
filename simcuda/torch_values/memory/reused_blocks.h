// Makes a block that torch's CUDA allocator reuses read as zeros, like device memory that was never written. Simulated
// kernels do not write. So if a copy wrote bytes into a block, kernels of the block's next owner would seem to have
// computed these bytes.
#ifndef SIMCUDA_TORCH_VALUES_MEMORY_REUSED_BLOCKS_H_
#define SIMCUDA_TORCH_VALUES_MEMORY_REUSED_BLOCKS_H_

namespace memoir {

// Attaches to the allocator once the allocator knows its devices. Cheap if it has attached already, or cannot
// attach yet. Call it after each operator that may have allocated the first segment. That is early enough, because
// the first block of a segment is never a reused block. Any thread.
void FollowReusedBlocks();

}  // namespace memoir

#endif  // SIMCUDA_TORCH_VALUES_MEMORY_REUSED_BLOCKS_H_
