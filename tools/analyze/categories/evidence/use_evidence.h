// Evidence from the operators and autograd nodes that receive a block as an argument or return it.
#ifndef TOOLS_ANALYZE_CATEGORIES_EVIDENCE_USE_EVIDENCE_H_
#define TOOLS_ANALYZE_CATEGORIES_EVIDENCE_USE_EVIDENCE_H_

#include <cstdint>
#include <vector>

#include "tools/analyze/categories/evidence/copy_evidence.h"
#include "tools/analyze/categories/evidence/state/bound_reference.h"
#include "tools/analyze/categories/evidence/state/module_calls.h"
#include "tools/analyze/categories/evidence/state/shared_evidence.h"
#include "tools/analyze/categories/evidence/state/thread_table.h"
#include "tools/analyze/categories/evidence/state/watched_block.h"
#include "tools/model/event/event.h"

namespace memoir {

// The newest outermost operator of a thread.
struct OutermostOperator {
  bool derived = false;  // the operator computes from the model's blocks; its results have Sign::kDerived
  bool fills = false;    // RangeTraits::fills of the operator
  // The operator fills a new tensor, and its first argument is a leaf that requires a gradient (zeros_like).
  bool like_leaf = false;
  std::vector<std::uint64_t> given;  // ordinals of the operator's arguments; empty outside of autograd nodes
};

class UseEvidence {
 public:
  UseEvidence(SharedEvidence& shared, CopyEvidence& copies) : shared_(shared), copies_(copies) {}

  void NoteArguments(const RangeBeginEvent& event);
  void NoteResults(const RangeEndEvent& event);
  const OutermostOperator& OutermostIn(ThreadId thread) { return threads_.Of(thread); }
  void EndProcess() { threads_.clear(); }

 private:
  void NoteUse(const RangeBeginEvent& event, const OpenModuleCalls& calls, WatchedBlock& watched);

  BoundReference<SharedEvidence> shared_;
  BoundReference<CopyEvidence> copies_;
  ThreadTable<OutermostOperator> threads_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_EVIDENCE_USE_EVIDENCE_H_
