// Visits host readings: samples of the memory of the process, its control group and the machine.
#ifndef TOOLS_MODEL_REPLAY_EVENTS_HOST_EVENTS_H_
#define TOOLS_MODEL_REPLAY_EVENTS_HOST_EVENTS_H_

#include "tools/model/replay/state/shared_replay_state.h"

namespace memoir {

class HostEvents {
 public:
  explicit HostEvents(SharedReplayState& shared) : context_(shared.context) {}

  void ShowReading(ThreadReplay& thread, RunCursor& cursor);

  // Visits the readings that a keyframe repeats from earlier parts. Call this function only for the keyframe at which a
  // replay begins, because the earlier parts are missing. Otherwise the replay has visited these readings already.
  void ShowReadingsOfKeyframe(const v1::Keyframe& keyframe);

 private:
  ReplayContext& context_;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAY_EVENTS_HOST_EVENTS_H_
