// Determines the module, the phase and the Python stacks of a thread (docs/event_schema.md, "Modules").
//
// A thread has open module calls and open ranges. Among the module calls, backward ranges and optimizer ranges, the
// last opened decides the module and the phase. However, inside of torch.compile's own work, the phase is always
// kCompile.
#ifndef TOOLS_MODEL_REPLAY_STATE_MODULE_CONTEXTS_H_
#define TOOLS_MODEL_REPLAY_STATE_MODULE_CONTEXTS_H_

#include "tools/model/replay/state/replay_context.h"
#include "tools/model/replay/state/replay_threads.h"

namespace memoir {

class ModuleContexts {
 public:
  ModuleContexts(ReplayContext& context, ReplayThreads& threads) : context_(context), threads_(threads) {}

  // Return the module and phase, or the Python stacks, of an event that happens on `thread` now.
  ModuleContext Of(const ThreadReplay& thread) const;
  Callstacks CallstacksOf(const ThreadReplay& thread) const;
  // Sets the module and the phase of the innermost range, which has just begun. Needs ReplayOptions::modules.
  void SetModule(ThreadReplay& thread);

 private:
  ForwardOperator ForwardOperatorOf(const OpenRange& backward);
  void SetModuleOfNode(ThreadReplay& thread, OpenRange& node);

  ReplayContext& context_;
  ReplayThreads& threads_;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAY_STATE_MODULE_CONTEXTS_H_
