// Visits calls of modules (docs/event_schema.md, "Modules").
#ifndef TOOLS_MODEL_REPLAY_EVENTS_MODULE_EVENTS_H_
#define TOOLS_MODEL_REPLAY_EVENTS_MODULE_EVENTS_H_

#include "tools/model/replay/state/shared_replay_state.h"

namespace memoir {

class ModuleEvents {
 public:
  explicit ModuleEvents(SharedReplayState& shared)
      : context_(shared.context), threads_(shared.threads), roles_(shared.roles) {}

  // Visit the begin and the end of a module call, even without ReplayOptions::modules, so that all views count the same
  // events. Without this option, ModuleEvent::phase has no meaning, and ModuleEvent::of_gradient is false.
  void ShowEnter(ThreadReplay& thread, RunCursor& cursor);
  void ShowExit(ThreadReplay& thread, RunCursor& cursor);

  // Restores the open module calls of a keyframe, which began in missing parts.
  void ApplyKeyframe(const v1::Keyframe& keyframe);

 private:
  ModuleEvent Decode(const ThreadReplay& thread, RunCursor& cursor);
  bool TakeGradientOf(ThreadReplay& thread, ModuleEvent& event);

  ReplayContext& context_;
  ReplayThreads& threads_;
  RangeRoles& roles_;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAY_EVENTS_MODULE_EVENTS_H_
