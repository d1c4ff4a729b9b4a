// Visits the events of devices with a caching allocator: completed frees, segments, out-of-memory errors, statistics.
// BlockEvents visits the allocations and deallocations of these devices.
#ifndef TOOLS_MODEL_REPLAY_EVENTS_ALLOCATOR_EVENTS_H_
#define TOOLS_MODEL_REPLAY_EVENTS_ALLOCATOR_EVENTS_H_

#include <cstdint>

#include "tools/model/replay/state/shared_replay_state.h"

namespace memoir {

class AllocatorEvents {
 public:
  explicit AllocatorEvents(SharedReplayState& shared)
      : context_(shared.context),
        threads_(shared.threads),
        decoder_(shared.decoder),
        memories_(shared.memories),
        blocks_(shared.blocks) {}

  void ShowFreeCompleted(ThreadReplay& thread, RunCursor& cursor);
  void ShowSegment(ThreadReplay& thread, RunCursor& cursor);
  void ShowOutOfMemory(ThreadReplay& thread, RunCursor& cursor);
  void ShowStatistics(ThreadReplay& thread, RunCursor& cursor);

  // Completes the free of the block at `address`.
  void CompleteFree(ThreadId thread, DeviceId device, std::uint64_t address, std::uint64_t serial, Tick tick);

  // ApplySegments restores the segments of a keyframe. ApplyPendingFrees restores its blocks whose free is requested
  // but not completed.
  void ApplySegments(const v1::Keyframe& keyframe);
  void ApplyPendingFrees(const v1::Keyframe& keyframe);

 private:
  ReplayContext& context_;
  const ReplayThreads& threads_;
  const BlockDecoder& decoder_;
  DeviceMemories& memories_;
  LiveBlocks& blocks_;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAY_EVENTS_ALLOCATOR_EVENTS_H_
