// Evidence from copies and views: the source of a copy, and the views of a block.
#ifndef TOOLS_ANALYZE_CATEGORIES_EVIDENCE_COPY_EVIDENCE_H_
#define TOOLS_ANALYZE_CATEGORIES_EVIDENCE_COPY_EVIDENCE_H_

#include <cstdint>

#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "tools/analyze/categories/evidence.h"
#include "tools/analyze/categories/evidence/state/bound_reference.h"
#include "tools/analyze/categories/evidence/state/shared_evidence.h"
#include "tools/analyze/categories/evidence/state/thread_table.h"
#include "tools/analyze/categories/evidence/state/watched_block.h"
#include "tools/analyze/categories/parameter_book.h"
#include "tools/analyze/categories/second_copies.h"
#include "tools/model/event/event.h"

namespace memoir {

class CopyEvidence {
 public:
  explicit CopyEvidence(SharedEvidence& shared) : shared_(shared) {}

  // NoteCopy is called for operators with RangeTraits::copies, NoteCopyOver for operators with copies_over, and NoteCut
  // and NoteCutResult for operators with cuts. NoteCopy and NoteCut need events with tensors.
  void NoteCopy(const RangeBeginEvent& event);
  void NoteCopyOver(const RangeBeginEvent& event);
  void NoteCut(const RangeBeginEvent& event);
  void NoteCutResult(const RangeEndEvent& event);

  // Notes that `watched` contains `leaf`, a leaf tensor that requires a gradient.
  void NoteLeaf(const Tensor& leaf, WatchedBlock& watched);
  // Notes the source of the running copy for a block that is allocated now.
  void NoteSource(WatchedBlock& watched);
  // Notes that a copy of the block has become a parameter.
  void NoteMoved(std::uint64_t ordinal);
  bool WasMoved(const WatchedBlock& watched) const { return moved_.contains(watched.ordinal); }
  // Returns true if the block is a copy of a parameter, or a copy of such a copy.
  bool CopiesParameter(const WatchedBlock& copy) const;

  void NoteInput(const Block& block, const WatchedBlock& watched);
  void EndBlock(const WatchedBlock& watched) { moved_.erase(watched.ordinal); }
  // `parameters`: the labelled parameters of all processes so far.
  void EndProcess(ProcessId process, absl::Span<const Parameter> parameters);

 private:
  // The newest operators of a thread that copy a block or make a view of a part of a block.
  struct RunningCopy {
    // Number of elements of the blank block of which the running operator makes a view. 0: no such operator runs.
    std::uint64_t uncut_elements = 0;
    RangePosition copy;  // the operator that copies; the next three members describe the source of its copy
    std::uint64_t copy_of = kNoOrdinal;
    std::uint32_t copy_slot = 0;
    bool copies_parameter = false;
  };

  void FindSecondCopies(ProcessId process, absl::Span<const Parameter> parameters);
  bool IsLikelyParameter(const Evidence& evidence) const {
    return evidence.IsParameter() ||
           (!shared_->trains && evidence.Has(Sign::kWantsGradient) && evidence.phase == Phase::kOther);
  }

  BoundReference<SharedEvidence> shared_;
  ThreadTable<RunningCopy> threads_;
  absl::flat_hash_set<std::uint64_t> leaf_elements_;  // numbers of elements of leaves that require a gradient
  absl::flat_hash_set<std::uint64_t> moved_;  // ordinals of live blocks that were copied to a block that is a parameter
  SecondCopies inputs_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_EVIDENCE_COPY_EVIDENCE_H_
