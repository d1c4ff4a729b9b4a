// The part of the evidence that collectives give, and what FSDP does around them.
#include "absl/types/span.h"
#include "tools/analyze/categories/evidence_pass.h"

namespace memoir {

// Programs reduce and gather other things than gradients and parameters, too: metrics, activations.
void EvidencePass::NoteCollective(const RangeBeginEvent& event, RangeMarks marks) {
  const bool in_backward = event.range->innermost_backward >= 0;
  if (marks.reduces) {
    for (const Tensor& tensor : event.tensors) {
      Watched* watched = At(tensor);
      if (in_backward && watched != nullptr) watched->evidence.Note(Sign::kReduced);
    }
    return;
  }
  if (event.tensors.size() < 2) return;
  const Watched* from = At(event.tensors[1]);
  if (from == nullptr) return;
  const Evidence& known = from->evidence;
  Watched* to = At(event.tensors[0]);
  if (marks.gathers && to != nullptr && (known.IsParameter() || known.Has(Sign::kGathered)))
    to->evidence.Note(Sign::kGathered);
  if (!marks.scatters || !(in_backward || known.Has(Sign::kScattered) || known.Has(Sign::kParameterGradient))) return;
  for (const Tensor& tensor : event.tensors) {
    Watched* watched = At(tensor);
    if (watched != nullptr && !watched->evidence.Has(Sign::kParameterGradient))
      watched->evidence.Note(Sign::kScattered);
  }
}

// What FSDP does before and after its collectives, with operators of its own.
void EvidencePass::NoteSharding(const RangeBeginEvent& event, RangeMarks marks) {
  const absl::Span<const Tensor> written =
      marks.copies_out ? event.tensors : event.tensors.subspan(event.tensors.size() - 1);
  for (const Tensor& tensor : written) {
    if (Watched* watched = At(tensor)) watched->evidence.Note(marks.chunks ? Sign::kScattered : Sign::kGathered);
  }
}

}  // namespace memoir
