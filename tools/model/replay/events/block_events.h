// Visits allocations and deallocations of blocks, on the host and on devices with a caching allocator.
#ifndef TOOLS_MODEL_REPLAY_EVENTS_BLOCK_EVENTS_H_
#define TOOLS_MODEL_REPLAY_EVENTS_BLOCK_EVENTS_H_

#include "tools/model/replay/state/shared_replay_state.h"

namespace memoir {

class BlockEvents {
 public:
  explicit BlockEvents(SharedReplayState& shared)
      : context_(shared.context), decoder_(shared.decoder), memories_(shared.memories), blocks_(shared.blocks) {}

  void ShowAllocate(ThreadReplay& thread, RunCursor& cursor);
  void ShowDeallocate(ThreadReplay& thread, RunCursor& cursor);

  // Restores the live blocks of a keyframe: closes blocks that the keyframe lacks, and opens blocks that were unknown.
  // `before`: the opened blocks were allocated before the first replayed event, or in evicted parts.
  void ApplyKeyframe(const v1::Keyframe& keyframe, bool before);

 private:
  // Sets `block` to the block with the index `i`. `block` must be the block with the index `i` - 1, because columns
  // store differences.
  void DecodeNext(const v1::LiveBlocks& live, int i, Block& block);

  ReplayContext& context_;
  const BlockDecoder& decoder_;
  DeviceMemories& memories_;
  LiveBlocks& blocks_;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAY_EVENTS_BLOCK_EVENTS_H_
