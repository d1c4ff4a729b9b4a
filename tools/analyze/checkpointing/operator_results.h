// The blocks that open operators allocated, and that may be their results. An operator saves its results when it ends,
// so the memory that a recomputation needs is noted at the operator's end.
#ifndef TOOLS_ANALYZE_CHECKPOINTING_OPERATOR_RESULTS_H_
#define TOOLS_ANALYZE_CHECKPOINTING_OPERATOR_RESULTS_H_

#include <cstdint>
#include <vector>

#include "tools/analyze/checkpointing/checkpoint_state.h"
#include "tools/analyze/checkpointing/followed_blocks.h"

namespace memoir {

class OperatorResults {
 public:
  OperatorResults(CheckpointState& shared, FollowedBlocks& blocks) : calls_(shared.calls), blocks_(blocks) {}

  // Notes that the new block may be a result of the innermost open operator that can save tensors. `event` must have a
  // stack.
  void NoteResult(const AllocateEvent& event, const FollowedBlock& followed);
  void EndOperator(const RangeEndEvent& event);
  void Clear() { results_.clear(); }

 private:
  struct Result {
    std::uint64_t operator_call = 0;  // OpenRange::call
    std::uint32_t slot = 0;
    std::uint64_t ordinal = 0;
  };

  FollowedCalls& calls_;
  FollowedBlocks& blocks_;
  std::vector<std::vector<Result>> results_;  // by ThreadId
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CHECKPOINTING_OPERATOR_RESULTS_H_
