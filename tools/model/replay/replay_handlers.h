// The handlers of a replay. Each handler visits the events of one subject and owns the state that only it needs.
// replay_handlers.def maps every kind of event to its handler.
#ifndef TOOLS_MODEL_REPLAY_REPLAY_HANDLERS_H_
#define TOOLS_MODEL_REPLAY_REPLAY_HANDLERS_H_

#include <vector>

#include "tools/model/replay/events/allocator_events.h"
#include "tools/model/replay/events/block_events.h"
#include "tools/model/replay/events/device_call_events.h"
#include "tools/model/replay/events/driver_events.h"
#include "tools/model/replay/events/holder_events.h"
#include "tools/model/replay/events/host_events.h"
#include "tools/model/replay/events/module_events.h"
#include "tools/model/replay/events/python_events.h"
#include "tools/model/replay/events/range_events.h"
#include "tools/model/replay/events/recording_levels.h"
#include "tools/model/replay/events/step_events.h"
#include "tools/model/replay/state/shared_replay_state.h"

namespace memoir {

struct ReplayHandlers {
  ReplayHandlers(const std::vector<ProcessSummary>& processes, const Symbols& symbols, Visitor& visitor,
                 const ReplayOptions& options, ReplayReport* report)
      : shared(processes, symbols, visitor, options, report) {}

  SharedReplayState shared;
  RangeEvents ranges{shared};
  ModuleEvents modules{shared};
  BlockEvents blocks{shared};
  AllocatorEvents allocator{shared};
  DriverEvents driver{shared};
  HostEvents host{shared};
  DeviceCallEvents device_calls{shared};
  PythonEvents python{shared};
  HolderEvents holders{shared};
  StepEvents steps{shared};
  RecordingLevels levels{shared, ranges, driver};
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAY_REPLAY_HANDLERS_H_
