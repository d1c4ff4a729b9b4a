// Records driver allocations that have an address (blocks): keeps the table of live driver allocations (block_table.h)
// and writes the records of allocations and frees.
//
// This code needs no library except libc. It runs on any thread, also under the lock of torch's CUDA allocator. Sizes
// are in bytes; device -1 is the host.
#ifndef INTERPOSE_CUDA_DRIVER_BLOCKS_H_
#define INTERPOSE_CUDA_DRIVER_BLOCKS_H_

#include <cstdint>

#include "interpose/cuda/block_table.h"
#include "interpose/cuda/caller_names.h"
#include "interpose/cuda/driver_records.h"

namespace memoir {

// Records an allocation. Call it after the program's call. If the program opens the same memory of another process a
// second time, the first block only gets another hold. If the table still contains an older block at the address,
// Memoir missed the older block's free (recording was paused, or the call was not wrapped). In this case the older
// block is recorded as freed now.
void NoteBlockAllocated(const DriverBlock& block, const LibraryName& library);

// A free in progress: BeginBlockFree removes the block from the table before the call; EndBlockFree records the free,
// or puts the block back if the call failed.
struct BlockFree {
  // True if the free took the block out of the table.
  bool known;
  bool held;  // the program opened the block several times, and this free ends one opening; the block stays
  std::uint64_t address;
  std::uint64_t serial;
  TableEntry entry;
};
BlockFree BeginBlockFree(std::uint64_t address);
void EndBlockFree(const BlockFree& block, bool succeeded);

// Notes a context that the program itself created. Such a context is not a primary context.
void NoteContextMade(std::uint64_t context);

// The end of a context. Before a call that may end the context, BeginPrimaryContextEnd or BeginContextEnd marks the
// context's blocks. After the call, FinishContextEnd records the marked blocks as freed if the context ended. The
// blocks of a context are those that were allocated while it was current, including pinned memory, code and memory of
// other processes. A primary context also has the stream-ordered memory of its device. Physical memory (cuMemCreate)
// belongs to no context.
struct ContextEnd {
  int device;
  std::uint32_t tag;  // 0: the primary context
  std::uint16_t mark;
  std::uint64_t serial;
};
ContextEnd BeginPrimaryContextEnd(int device);
ContextEnd BeginContextEnd(std::uint64_t context);
void FinishContextEnd(const ContextEnd& context, bool ended);

}  // namespace memoir

#endif  // INTERPOSE_CUDA_DRIVER_BLOCKS_H_
