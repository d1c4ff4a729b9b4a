// Evidence from the allocation of a block: the ranges and modules that were running.
#ifndef TOOLS_ANALYZE_CATEGORIES_EVIDENCE_ORIGIN_EVIDENCE_H_
#define TOOLS_ANALYZE_CATEGORIES_EVIDENCE_ORIGIN_EVIDENCE_H_

#include "tools/analyze/categories/evidence/backward_evidence.h"
#include "tools/analyze/categories/evidence/copy_evidence.h"
#include "tools/analyze/categories/evidence/graph_evidence.h"
#include "tools/analyze/categories/evidence/state/bound_reference.h"
#include "tools/analyze/categories/evidence/state/shared_evidence.h"
#include "tools/analyze/categories/evidence/state/watched_block.h"
#include "tools/analyze/categories/evidence/use_evidence.h"
#include "tools/model/event/event.h"

namespace memoir {

class OriginEvidence {
 public:
  OriginEvidence(SharedEvidence& shared, UseEvidence& uses, BackwardEvidence& backward, CopyEvidence& copies,
                 GraphEvidence& graph, bool of_snapshot)
      : shared_(shared), uses_(uses), backward_(backward), copies_(copies), graph_(graph), of_snapshot_(of_snapshot) {}

  void NoteAllocation(const AllocateEvent& event);

 private:
  void NoteOrigin(const AllocateEvent& event, WatchedBlock& watched);
  bool IsOfGenerator(const Block& block) const;

  BoundReference<SharedEvidence> shared_;
  BoundReference<UseEvidence> uses_;
  BoundReference<BackwardEvidence> backward_;
  BoundReference<CopyEvidence> copies_;
  BoundReference<GraphEvidence> graph_;
  bool of_snapshot_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_EVIDENCE_ORIGIN_EVIDENCE_H_
