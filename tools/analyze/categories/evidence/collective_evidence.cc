#include "tools/analyze/categories/evidence/collective_evidence.h"

#include "absl/types/span.h"
#include "tools/analyze/categories/evidence.h"
#include "tools/analyze/categories/evidence/state/watched_block.h"

namespace memoir {

// Notes the tensors of a collective. Outside of backward, a collective is evidence only if its input is known to be a
// parameter or a gradient, because programs also reduce and gather metrics and activations.
void CollectiveEvidence::NoteCollective(const RangeBeginEvent& event, RangeTraits traits) {
  const bool in_backward = event.range->innermost_backward >= 0;
  if (traits.reduces) {
    for (const Tensor& tensor : event.tensors) {
      WatchedBlock* watched = shared_->blocks.Find(tensor);
      if (in_backward && watched != nullptr) watched->evidence.Note(Sign::kReduced);
    }
    return;
  }
  if (event.tensors.size() < 2) return;
  const WatchedBlock* from = shared_->blocks.Find(event.tensors[1]);
  if (from == nullptr) return;
  const Evidence& known = from->evidence;
  WatchedBlock* to = shared_->blocks.Find(event.tensors[0]);
  if (traits.gathers && to != nullptr && (known.IsParameter() || known.Has(Sign::kGathered)))
    to->evidence.Note(Sign::kGathered);
  if (!traits.scatters || !(in_backward || known.Has(Sign::kScattered) || known.Has(Sign::kParameterGradient))) return;
  for (const Tensor& tensor : event.tensors) {
    WatchedBlock* watched = shared_->blocks.Find(tensor);
    if (watched != nullptr && !watched->evidence.Has(Sign::kParameterGradient))
      watched->evidence.Note(Sign::kScattered);
  }
}

// Notes the tensors of the operators that FSDP runs before and after a collective.
void CollectiveEvidence::NoteSharding(const RangeBeginEvent& event, RangeTraits traits) {
  const absl::Span<const Tensor> written =
      traits.copies_out ? event.tensors : event.tensors.subspan(event.tensors.size() - 1);
  for (const Tensor& tensor : written) {
    if (WatchedBlock* watched = shared_->blocks.Find(tensor))
      watched->evidence.Note(traits.chunks ? Sign::kScattered : Sign::kGathered);
  }
}

}  // namespace memoir
