// The state that several handlers of a replay share. Each object has its own interface. A handler keeps references to
// the objects that it uses, or to the whole struct if it uses many of them.
#ifndef TOOLS_MODEL_REPLAY_STATE_SHARED_REPLAY_STATE_H_
#define TOOLS_MODEL_REPLAY_STATE_SHARED_REPLAY_STATE_H_

#include <vector>

#include "tools/model/repeats/matching_blocks.h"
#include "tools/model/replay/state/block_decoder.h"
#include "tools/model/replay/state/device_memories.h"
#include "tools/model/replay/state/event_tensors.h"
#include "tools/model/replay/state/live_blocks.h"
#include "tools/model/replay/state/module_contexts.h"
#include "tools/model/replay/state/operator_visibility.h"
#include "tools/model/replay/state/range_roles.h"
#include "tools/model/replay/state/replay_context.h"
#include "tools/model/replay/state/replay_threads.h"
#include "tools/model/replay/state/surrounding_ranges.h"

namespace memoir {

struct SharedReplayState {
  SharedReplayState(const std::vector<ProcessSummary>& processes, const Symbols& symbols, Visitor& visitor,
                    const ReplayOptions& options, ReplayReport* report)
      : context(processes, symbols, visitor, options, report) {}

  ReplayContext context;
  ReplayThreads threads{context.dictionary()};
  OperatorVisibility visibility;
  MatchingBlocks matching_blocks;
  RangeRoles roles{context.dictionary()};
  SurroundingRanges surrounding{context.dictionary(), threads, roles};
  ModuleContexts modules{context, threads};
  BlockDecoder decoder{context, threads, surrounding, modules};
  DeviceMemories memories;
  LiveBlocks blocks{context, threads, surrounding, memories, matching_blocks, visibility};
  EventTensors tensors{context, blocks};
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAY_STATE_SHARED_REPLAY_STATE_H_
