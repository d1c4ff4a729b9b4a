// Visits the events STEP and MARK.
#ifndef TOOLS_MODEL_REPLAY_EVENTS_STEP_EVENTS_H_
#define TOOLS_MODEL_REPLAY_EVENTS_STEP_EVENTS_H_

#include <cstdint>

#include "tools/model/replay/state/shared_replay_state.h"

namespace memoir {

class StepEvents {
 public:
  explicit StepEvents(SharedReplayState& shared)
      : context_(shared.context), visibility_(shared.visibility), matching_blocks_(shared.matching_blocks) {}

  void ShowStep(ThreadReplay& thread, RunCursor& cursor);
  void ShowMark(ThreadReplay& thread, RunCursor& cursor);

  // Begins the step with this number, and visits its event.
  void BeginStep(ThreadId thread, std::uint64_t number, Tick tick);

 private:
  ReplayContext& context_;
  OperatorVisibility& visibility_;
  MatchingBlocks& matching_blocks_;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAY_EVENTS_STEP_EVENTS_H_
