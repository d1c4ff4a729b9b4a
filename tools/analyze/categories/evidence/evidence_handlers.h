// The handlers of an EvidencePass. Each handler notes the evidence of one kind, or judges blocks by it, and owns the
// state that only it needs. Assigning the handlers of another pass copies their state.
#ifndef TOOLS_ANALYZE_CATEGORIES_EVIDENCE_EVIDENCE_HANDLERS_H_
#define TOOLS_ANALYZE_CATEGORIES_EVIDENCE_EVIDENCE_HANDLERS_H_

#include "tools/analyze/categories/evidence/backward_evidence.h"
#include "tools/analyze/categories/evidence/collective_evidence.h"
#include "tools/analyze/categories/evidence/copy_evidence.h"
#include "tools/analyze/categories/evidence/freed_block_judge.h"
#include "tools/analyze/categories/evidence/graph_evidence.h"
#include "tools/analyze/categories/evidence/holder_evidence.h"
#include "tools/analyze/categories/evidence/live_block_judge.h"
#include "tools/analyze/categories/evidence/origin_evidence.h"
#include "tools/analyze/categories/evidence/state/shared_evidence.h"
#include "tools/analyze/categories/evidence/unseen_bytes.h"
#include "tools/analyze/categories/evidence/use_evidence.h"

namespace memoir {

struct EvidenceHandlers {
  explicit EvidenceHandlers(bool of_snapshot) : origins(shared, uses, backward, copies, graph, of_snapshot) {}

  SharedEvidence shared;
  CollectiveEvidence collectives{shared};
  CopyEvidence copies{shared};
  BackwardEvidence backward{shared};
  GraphEvidence graph{shared};
  HolderEvidence holders{shared, copies};
  UseEvidence uses{shared, copies};
  OriginEvidence origins;
  LiveBlockJudge live_blocks{shared, graph, copies, holders};
  FreedBlockJudge freed_blocks{shared, graph, copies, holders};
  UnseenBytes unseen_bytes;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_EVIDENCE_EVIDENCE_HANDLERS_H_
