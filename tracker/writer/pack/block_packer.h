// Packs allocations and frees of blocks, on the host and on devices, and keeps the table of live blocks up to date. One
// thread.
#ifndef TRACKER_WRITER_PACK_BLOCK_PACKER_H_
#define TRACKER_WRITER_PACK_BLOCK_PACKER_H_

#include <cstdint>

#include "tracker/writer/events/event_group.h"
#include "tracker/writer/events/run_columns.h"
#include "tracker/writer/pack/shared_pack_state.h"

namespace memoir {

class BlockPacker {
 public:
  explicit BlockPacker(SharedPackState& shared) : shared_(shared) {}

  void AddAllocate(ThreadState& thread, const EventGroup& group, RunColumns& run);
  void AddDeallocate(ThreadState& thread, const EventGroup& group, RunColumns& run);
  void AddBlock(ThreadState& thread, const EventGroup& group, RunColumns& run);
  void AddFreeCompleted(ThreadState& thread, const EventGroup& group, RunColumns& run);

  // Update the live blocks for an event, whether it is in a run or in a pattern row.
  void Track(const ThreadState& thread, const AllocateRecord& record, std::uint32_t device);
  void Track(const ThreadState& thread, const BlockRecord& record, std::uint32_t device);
  void TrackFree(const DeallocateRecord& record, std::uint32_t device);
  void TrackFreeCompleted(const DeallocateRecord& record, std::uint32_t device);

 private:
  // Returns a block with the current operator, module and stacks of the thread.
  LiveBlock MakeBlock(const ThreadState& thread, std::uint32_t device) const;

  SharedPackState& shared_;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_PACK_BLOCK_PACKER_H_
