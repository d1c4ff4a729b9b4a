// The live blocks of the current process. Opens and closes blocks, and visits their allocations and deallocations.
#ifndef TOOLS_MODEL_REPLAY_STATE_LIVE_BLOCKS_H_
#define TOOLS_MODEL_REPLAY_STATE_LIVE_BLOCKS_H_

#include <cstdint>

#include "tools/model/repeats/matching_blocks.h"
#include "tools/model/replay/state/device_memories.h"
#include "tools/model/replay/state/live_set.h"
#include "tools/model/replay/state/operator_visibility.h"
#include "tools/model/replay/state/replay_context.h"
#include "tools/model/replay/state/replay_threads.h"
#include "tools/model/replay/state/serial_matcher.h"
#include "tools/model/replay/state/surrounding_ranges.h"

namespace memoir {

class LiveBlocks {
 public:
  LiveBlocks(ReplayContext& context, ReplayThreads& threads, const SurroundingRanges& surrounding,
             DeviceMemories& memories, MatchingBlocks& matching_blocks, const OperatorVisibility& visibility)
      : context_(context),
        threads_(threads),
        surrounding_(surrounding),
        memories_(memories),
        matching_blocks_(matching_blocks),
        visibility_(visibility),
        matcher_(&context.report()) {}

  const LiveSet& set() const { return matcher_.live_set(); }
  const Block* Find(DeviceId device, std::uint64_t address) const { return set().Find(device, address); }
  // Returns the block that a deallocation closes (SerialMatcher::FindClosed).
  const Block* FindClosed(DeviceId device, std::uint64_t address, std::uint64_t serial) {
    return matcher_.FindClosed(device, address, serial);
  }
  // Returns true when a tensor shows, for the first time, a storage that is not live.
  bool IsFirstSeen(const Tensor& tensor) { return matcher_.IsFirstSeen(tensor); }

  // Infers the operators of a block that `thread` is about to allocate, if they were not recorded (matching_blocks.h).
  void Infer(const ThreadReplay& thread, bool caching, Block& block);
  // Visits the allocation of a block. If another block is live at its address, visits the deallocation of that block
  // first. `before`: see AllocateEvent::before.
  void Allocate(const ThreadReplay& thread, Block& block, bool before = false);
  // Adds a block of a keyframe, and visits its allocation without open ranges.
  void AddFromKeyframe(const Block& block, Tick tick, bool before) { Open(block, nullptr, tick, before); }
  // Visits a deallocation and removes the block. `block` must be an element of set(). Pointers to other elements stay
  // valid.
  void Close(const Block& block, ThreadId by, Tick tick, DeallocateCause cause, std::uint64_t serial = 0);
  // Closes all blocks older than `tick`, with DeallocateCause::kUnknown.
  void CloseOlder(ThreadId by, Tick tick);

  // Returns the number of allocations that were visited or collapsed so far.
  std::uint64_t allocations() const { return allocations_; }
  void AddCollapsed(std::uint64_t allocations) { allocations_ += allocations; }
  // Adds `ticks` to the tick of the live block at `address`, which from now on represents the corresponding block of a
  // collapsed step. Returns the block. nullptr if no block begins at `address`.
  const Block* Move(DeviceId device, std::uint64_t address, Tick ticks);

  // Called when the process ends.
  void Clear() { matcher_.Clear(); }

 private:
  void Open(const Block& block, const RangeStack* stack, Tick tick, bool before);
  void VisitClosed(const ThreadReplay& thread, Block& block, DeallocateCause cause);

  ReplayContext& context_;
  ReplayThreads& threads_;
  const SurroundingRanges& surrounding_;
  DeviceMemories& memories_;
  MatchingBlocks& matching_blocks_;
  const OperatorVisibility& visibility_;
  SerialMatcher matcher_;
  std::uint64_t allocations_ = 0;
  bool reported_full_ = false;  // true: a full live set was reported as damage
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAY_STATE_LIVE_BLOCKS_H_
