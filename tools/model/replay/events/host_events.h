// Visits readings of the host's memory.
#ifndef TOOLS_MODEL_REPLAY_EVENTS_HOST_EVENTS_H_
#define TOOLS_MODEL_REPLAY_EVENTS_HOST_EVENTS_H_

#include "tools/model/replay/state/shared_replay_state.h"

namespace memoir {

class HostEvents {
 public:
  explicit HostEvents(SharedReplayState& shared) : context_(shared.context) {}

  void ShowReading(ThreadReplay& thread, RunCursor& cursor);

  // Visits the readings that a keyframe repeats from earlier parts. Only for the keyframe at which a replay begins,
  // because those parts are missing. A replay that continues after a loss has already visited these readings.
  void ShowReadingsOfKeyframe(const v1::Keyframe& keyframe);

 private:
  ReplayContext& context_;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAY_EVENTS_HOST_EVENTS_H_
