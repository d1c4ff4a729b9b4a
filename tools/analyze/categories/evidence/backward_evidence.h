// Evidence from the autograd nodes that run: the blocks that they had kept, and the gradients that they compute. A
// result is known to be differentiable only when the operator's node runs. The blocks that the operator computed may be
// freed before its node runs.
#ifndef TOOLS_ANALYZE_CATEGORIES_EVIDENCE_BACKWARD_EVIDENCE_H_
#define TOOLS_ANALYZE_CATEGORIES_EVIDENCE_BACKWARD_EVIDENCE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "tools/analyze/categories/autograd_graph_book.h"
#include "tools/analyze/categories/evidence/state/bound_reference.h"
#include "tools/analyze/categories/evidence/state/shared_evidence.h"
#include "tools/analyze/categories/evidence/state/thread_table.h"
#include "tools/analyze/categories/evidence/state/watched_block.h"
#include "tools/model/event/event.h"

namespace memoir {

class BackwardEvidence {
 public:
  explicit BackwardEvidence(SharedEvidence& shared) : shared_(shared) {}

  std::uint64_t NoteNode(const RangeBeginEvent& event);
  void EndPass();
  bool IsExpectedGradient(const WatchedBlock& watched, absl::Span<const std::uint64_t> given);
  void EndProcess();

 private:
  using BlockRef = AutogradGraphBook::BlockRef;

  // A leaf whose gradient the running node computes. `other`: another block of the same size that the node's forward
  // operator received.
  struct ExpectedGradient {
    std::uint64_t bytes = 0;
    BlockRef leaf, other{0, kNoOrdinal};
  };
  struct NewestNode {
    RangePosition node;  // the newest autograd node
    std::vector<ExpectedGradient> owed;
  };

  void NoteUses(const AutogradGraphBook::Node& ran);
  void NoteOwed(const AutogradGraphBook::Node& ran, NewestNode& newest);

  BoundReference<SharedEvidence> shared_;
  ThreadTable<NewestNode> threads_;
  std::vector<BlockRef> let_go_;  // the forward blocks that the newest pass released
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_EVIDENCE_BACKWARD_EVIDENCE_H_
