// Evidence from collectives, and from FSDP's operators before and after a collective.
#ifndef TOOLS_ANALYZE_CATEGORIES_EVIDENCE_COLLECTIVE_EVIDENCE_H_
#define TOOLS_ANALYZE_CATEGORIES_EVIDENCE_COLLECTIVE_EVIDENCE_H_

#include "tools/analyze/categories/evidence/state/bound_reference.h"
#include "tools/analyze/categories/evidence/state/shared_evidence.h"
#include "tools/analyze/categories/range_traits.h"
#include "tools/model/event/event.h"

namespace memoir {

class CollectiveEvidence {
 public:
  explicit CollectiveEvidence(SharedEvidence& shared) : shared_(shared) {}

  // Both functions need an event with tensors.
  void NoteCollective(const RangeBeginEvent& event, RangeTraits traits);
  void NoteSharding(const RangeBeginEvent& event, RangeTraits traits);

 private:
  BoundReference<SharedEvidence> shared_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_EVIDENCE_COLLECTIVE_EVIDENCE_H_
