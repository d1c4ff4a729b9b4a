// Visits driver allocations, refused requests and device samples. Owns the live driver allocations of the process.
#ifndef TOOLS_MODEL_REPLAY_EVENTS_DRIVER_EVENTS_H_
#define TOOLS_MODEL_REPLAY_EVENTS_DRIVER_EVENTS_H_

#include "tools/model/driver_memory.h"
#include "tools/model/replay/state/shared_replay_state.h"

namespace memoir {

class DriverEvents {
 public:
  explicit DriverEvents(SharedReplayState& shared)
      : context_(shared.context), decoder_(shared.decoder), memories_(shared.memories) {}

  void ShowAllocate(ThreadReplay& thread, RunCursor& cursor);
  void ShowFree(ThreadReplay& thread, RunCursor& cursor);
  void ShowRefused(ThreadReplay& thread, RunCursor& cursor);
  void ShowSample(ThreadReplay& thread, RunCursor& cursor);

  // Restores the driver allocations of a keyframe.
  void ApplyKeyframe(const v1::Keyframe& keyframe);
  // Visits the device samples that a keyframe repeats from earlier parts. Call this function only for the keyframe at
  // which a replay begins, because the earlier parts are missing. Otherwise the replay has visited these samples
  // already.
  void ShowSamplesOfKeyframe(const v1::Keyframe& keyframe);

  const DriverMemory& memory() const { return driver_; }
  // Removes blocks older than `tick` (DriverMemory::ForgetBefore).
  void ForgetBefore(Tick tick) { driver_.ForgetBefore(tick); }
  // Called when the process ends.
  void Clear() { driver_.Clear(); }

 private:
  DriverBlock Decode(const ThreadReplay& thread, RunCursor& cursor);

  ReplayContext& context_;
  const BlockDecoder& decoder_;
  DeviceMemories& memories_;
  DriverMemory driver_;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAY_EVENTS_DRIVER_EVENTS_H_
