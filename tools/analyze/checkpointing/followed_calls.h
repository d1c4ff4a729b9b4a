// The module calls that have not ended, or that have live blocks which count (FollowedBlock::Counts()). The figures of
// a call and of its group of alike modules change when a block is made, read for the last time in forward, received by
// another call as an input, or freed.
#ifndef TOOLS_ANALYZE_CHECKPOINTING_FOLLOWED_CALLS_H_
#define TOOLS_ANALYZE_CHECKPOINTING_FOLLOWED_CALLS_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "tools/analyze/checkpointing/call_tree.h"
#include "tools/analyze/checkpointing/checkpointed_peaks.h"
#include "tools/analyze/checkpointing/device_peaks.h"
#include "tools/analyze/checkpointing/followed_block.h"
#include "tools/analyze/checkpointing/followed_call.h"

namespace memoir {

class FollowedCalls {
 public:
  FollowedCalls(const CallTree& tree, DevicePeaks& devices) : tree_(tree), devices_(devices) {}

  // Begins to follow a call that has just begun.
  void Follow(CallNumber number);
  void Forget(CallNumber number) { open_.erase(number); }
  void Clear() { open_.clear(); }
  // Returns nullptr if the call is not followed.
  FollowedCall* Find(CallNumber number) {
    const auto found = open_.find(number);
    return found == open_.end() ? nullptr : &found->second;
  }
  // Calls `function` with each followed call, in any order.
  template <class Function>
  void ForAll(Function function) {
    for (auto& [number, call] : open_) function(call);
  }
  // Calls `function` with the call `innermost` and the calls that contain it, innermost first. Skips calls that are not
  // followed.
  template <class Function>
  void ForCallsOf(CallNumber innermost, Function function) {
    for (CallNumber number = innermost; number != 0; number = tree_[number].caller) {
      if (const auto found = open_.find(number); found != open_.end()) function(found->second);
    }
  }

  // Counts a new block for the calls that made it. Must be called before the live bytes change.
  void AddMade(const FollowedBlock& followed, CheckpointedPeaks& peaks);
  // Removes a freed block from the figures of the calls that made it. Must be called before the live bytes change.
  void RemoveMade(const FollowedBlock& followed, CheckpointedPeaks& peaks);
  // Called when forward does not read the block any more. The block settles when the call whose frame holds it returns.
  void AwaitReturn(FollowedBlock& followed, std::uint32_t slot);
  // Leaves a library's workspace out of the bytes that the open calls would recompute. The library keeps its workspace
  // after its first call, so a recomputed call does not allocate it again.
  void LeaveOut(const Block& workspace, const CheckpointedPeaks& peaks);
  // Notes the most live bytes so far of `within` and of each open call that contains it. Called at each operator that
  // may save a tensor: recomputation stops at the last such operator, so memory after it does not count.
  void NoteMost(const FollowedBlock& followed, CallNumber within);
  // Notes that `call` receives the block as an input, and so do the calls that contain `call` but did not make the
  // block.
  void NoteInput(FollowedBlock& followed, CallNumber call);

 private:
  void Settle(FollowedBlock& followed);
  void LeaveSibling(FollowedBlock& followed, CallNumber common, AlikeNumber alike);

  const CallTree& tree_;
  DevicePeaks& devices_;
  // Calls that have not ended, or whose FollowedCall::blocks is not 0.
  absl::flat_hash_map<CallNumber, FollowedCall> open_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CHECKPOINTING_FOLLOWED_CALLS_H_
