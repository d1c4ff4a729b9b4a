// The state that several members of a CheckpointPass share. Each member keeps references to the objects that it uses.
#ifndef TOOLS_ANALYZE_CHECKPOINTING_CHECKPOINT_STATE_H_
#define TOOLS_ANALYZE_CHECKPOINTING_CHECKPOINT_STATE_H_

#include "tools/analyze/checkpointing/call_tree.h"
#include "tools/analyze/checkpointing/device_peaks.h"
#include "tools/analyze/checkpointing/followed_calls.h"

namespace memoir {

struct CheckpointState {
  CallTree tree;
  DevicePeaks devices;
  FollowedCalls calls{tree, devices};
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CHECKPOINTING_CHECKPOINT_STATE_H_
