// Visits the tensors that modules and optimizers hold, and the gradients of parameters.
#ifndef TOOLS_MODEL_REPLAY_EVENTS_HOLDER_EVENTS_H_
#define TOOLS_MODEL_REPLAY_EVENTS_HOLDER_EVENTS_H_

#include <cstdint>
#include <vector>

#include "tools/model/replay/state/shared_replay_state.h"

namespace memoir {

class HolderEvents {
 public:
  explicit HolderEvents(SharedReplayState& shared) : context_(shared.context), tensors_(shared.tensors) {}

  void ShowHeldTensors(ThreadReplay& thread, RunCursor& cursor);

 private:
  void DecodeNames(RunCursor& cursor, std::uint32_t count);

  ReplayContext& context_;
  EventTensors& tensors_;
  std::vector<NameId> names_;  // names of the tensors of the current event
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAY_EVENTS_HOLDER_EVENTS_H_
