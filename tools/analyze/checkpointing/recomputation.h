// Simulates the recomputation of module calls. Finds how high the memory of a device would rise when backward runs a
// group of checkpointed calls again and their blocks become live a second time.
#ifndef TOOLS_ANALYZE_CHECKPOINTING_RECOMPUTATION_H_
#define TOOLS_ANALYZE_CHECKPOINTING_RECOMPUTATION_H_

#include <cstdint>
#include <vector>

#include "tools/analyze/checkpointing/checkpoint_state.h"

namespace memoir {

class Recomputation {
 public:
  explicit Recomputation(CheckpointState& shared) : devices_(shared.devices), calls_(shared.calls) {}

  // Notes the live bytes when an autograd node begins on the thread.
  void BeginNode(ThreadId thread);
  // Recomputes the calls that made the block, because `thread` needs the block in backward.
  void MakeAgainCallsOf(const FollowedBlock& followed, ThreadId thread);
  // Called for a call that an out-of-memory error or the end of the process cut off. With checkpointing, backward would
  // have to recompute at least the work that the call has done so far.
  void TouchCutOff(FollowedCall& call);
  // Adds the recomputation of calls whose backward pass was not recorded. Called at the end of the process.
  void TouchWaiting();
  void Clear() { live_at_node_.clear(); }

 private:
  void MakeAgain(FollowedCall& call, ThreadId thread);

  DevicePeaks& devices_;
  FollowedCalls& calls_;
  // By ThreadId: the live bytes of each of devices_ at the beginning of the thread's newest autograd node.
  std::vector<std::vector<std::uint64_t>> live_at_node_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CHECKPOINTING_RECOMPUTATION_H_
