// Evidence from the operators that may make autograd nodes: which blocks a node may keep, and which results require a
// gradient.
#ifndef TOOLS_ANALYZE_CATEGORIES_EVIDENCE_GRAPH_EVIDENCE_H_
#define TOOLS_ANALYZE_CATEGORIES_EVIDENCE_GRAPH_EVIDENCE_H_

#include <cstdint>
#include <vector>

#include "tools/analyze/categories/autograd_graph_book.h"
#include "tools/analyze/categories/evidence/state/bound_reference.h"
#include "tools/analyze/categories/evidence/state/gradient_wants.h"
#include "tools/analyze/categories/evidence/state/shared_evidence.h"
#include "tools/analyze/categories/evidence/state/thread_table.h"
#include "tools/analyze/categories/evidence/state/watched_block.h"
#include "tools/analyze/categories/operator_saves.h"
#include "tools/model/event/event.h"

namespace memoir {

class GraphEvidence {
 public:
  explicit GraphEvidence(SharedEvidence& shared) : shared_(shared) {}

  void NoteGiven(const RangeBeginEvent& event);
  void NoteSaved(const RangeEndEvent& event);
  void NoteMaker(const RangeStack& stack, WatchedBlock& watched, std::uint32_t slot);
  // Notes the free of a block whose operator may have made a node.
  void LeaveComputed(const WatchedBlock& watched, std::uint32_t slot);

  // Returns true if a running operator received the block and may still pass it on to an inner operator that saves it.
  bool MayStillBeGiven(const WatchedBlock& watched) const;
  void CountUnsureNodes(bool counts);
  void EndProcess();

 private:
  using GradStep = AutogradGraphBook::Step;
  using BlockRef = AutogradGraphBook::BlockRef;

  // A running operator with an autograd sequence number.
  struct NumberedOperator {
    std::uint32_t depth = 0;
    std::uint64_t call = 0;
    GradStep step;
    GradientWant wants = GradientWant::kMaybe;  // whether any of its arguments requires a gradient
    const OperatorSaves* saves = nullptr;       // RangeTraits::saves of the operator
    // Only if `saves` is nullptr: the arguments that no inner operator has received so far.
    std::vector<BlockRef> given{};
  };
  struct NumberedOperators {
    std::vector<NumberedOperator> numbered;        // outermost first
    GradStep newest = AutogradGraphBook::kNoStep;  // thread and sequence number of newest_operator
    RangePosition newest_operator;
    bool newest_is_sure = false;  // newest_operator certainly makes a node
  };

  static void NoteOpen(NumberedOperators& operators, const BlockRef& block);
  void NoteSavedResults(const RangeEndEvent& event, const NumberedOperator& numbered);
  AutogradGraphBook::Saving MayBeSaved(const GradStep& step, std::uint64_t call, const OperatorSaves& saves) const;

  BoundReference<SharedEvidence> shared_;
  ThreadTable<NumberedOperators> threads_;
  GradientWants wants_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_EVIDENCE_GRAPH_EVIDENCE_H_
