// Blocks by address, as calls give them and take them back: the table of what is live, and the records.
//
// libc only. Any thread, also under torch's lock of a device. Sizes are bytes; a device of -1 is the host.
#ifndef INTERPOSE_CUDA_DRIVER_BLOCKS_H_
#define INTERPOSE_CUDA_DRIVER_BLOCKS_H_

#include <cstdint>

#include "interpose/cuda/block_table.h"
#include "interpose/cuda/caller_names.h"
#include "interpose/cuda/driver_records.h"

namespace memoir {

// After the call that gave it. Memory of another process that is open already is held once more. One that was still
// taken for live at that address is recorded as freed: its free was not seen, while recording was paused or through a
// call that is not wrapped.
void BlockGiven(const DriverBlock& block, const LibraryName& library);

// Before the call that takes it back, and after: it is put back where the call failed.
struct BlockLeaving {
  bool known;
  bool held;  // once more beside this: it stays
  std::uint64_t address;
  std::uint64_t serial;
  TableEntry entry;
};
BlockLeaving BlockLeaves(std::uint64_t address);
void BlockLeft(const BlockLeaving& block, bool succeeded);

// Contexts beside the primary ones, which programs make themselves.
void NoteContextMade(std::uint64_t context);

// Before a call that may end a context, and after it: what was given in it ends with it, pinned memory, code and memory
// of other processes as well, and stream-ordered memory of its device. Physical memory (cuMemCreate) is no context's.
struct ContextEnding {
  int device;
  std::uint32_t tag;  // 0: the primary one
  std::uint16_t mark;
  std::uint64_t serial;
};
ContextEnding PrimaryContextEnds(int device);
ContextEnding ContextEnds(std::uint64_t context);
void ContextEnded(const ContextEnding& context, bool ended);

}  // namespace memoir

#endif  // INTERPOSE_CUDA_DRIVER_BLOCKS_H_
