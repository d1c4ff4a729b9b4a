// Visits calls of CUDA, and the work on devices that CUPTI reports.
#ifndef TOOLS_MODEL_REPLAY_EVENTS_DEVICE_CALL_EVENTS_H_
#define TOOLS_MODEL_REPLAY_EVENTS_DEVICE_CALL_EVENTS_H_

#include "tools/model/replay/state/shared_replay_state.h"

namespace memoir {

class DeviceCallEvents {
 public:
  explicit DeviceCallEvents(SharedReplayState& shared)
      : context_(shared.context),
        threads_(shared.threads),
        surrounding_(shared.surrounding),
        modules_(shared.modules) {}

  void ShowCall(ThreadReplay& thread, RunCursor& cursor);
  void ShowKernelRun(ThreadReplay& thread, RunCursor& cursor);

 private:
  ReplayContext& context_;
  const ReplayThreads& threads_;
  const SurroundingRanges& surrounding_;
  const ModuleContexts& modules_;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAY_EVENTS_DEVICE_CALL_EVENTS_H_
