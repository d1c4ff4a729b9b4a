#include "tools/analyze/categories/evidence/use_evidence.h"

#include <algorithm>

#include "tools/analyze/categories/evidence.h"
#include "tools/analyze/categories/range_traits.h"

namespace memoir {
namespace {

constexpr Sign kOfModels[] = {
    Sign::kModuleParameter, Sign::kOptimizedParameter, Sign::kLeaf,           Sign::kWantsGradient,
    Sign::kModuleBuffer,    Sign::kParameterGradient,  Sign::kOptimizerState, Sign::kDerived};

// Returns true if everything that is computed from the block counts as derived from the model (Sign::kDerived).
bool Derives(const Evidence& evidence) {
  return evidence.phase != Phase::kOther ||
         std::ranges::any_of(kOfModels, [&](Sign sign) { return evidence.Has(sign); });
}

}  // namespace

void UseEvidence::NoteArguments(const RangeBeginEvent& event) {
  const OpenRange& range = *event.range;
  OutermostOperator& noted = threads_.Of(event.thread);
  const OpenModuleCalls& calls = shared_->module_calls.OpenIn(event.thread);
  const bool outermost = range.is_operator && range.outermost_operator == static_cast<std::int32_t>(range.depth);
  if (outermost) noted.given.clear();
  bool derived = false;
  for (const Tensor& tensor : event.tensors) {
    WatchedBlock* watched = shared_->blocks.Find(tensor);
    if (watched == nullptr) continue;
    NoteUse(event, calls, *watched);
    watched->NoteLayout(tensor.layout);
    if (outermost && range.innermost_backward >= 0) noted.given.push_back(watched->ordinal);
    if (tensor.wants_gradient) copies_->NoteLeaf(tensor, *watched);
    derived = derived || Derives(watched->evidence);
  }
  if (!outermost) return;
  noted.derived = derived;
  const RangeTraits traits = shared_->FindTraits(range.name);
  noted.fills = traits.fills;
  WatchedBlock* first = event.tensors.empty() ? nullptr : shared_->blocks.Find(event.tensors[0]);
  const bool leaf = first != nullptr && event.tensors[0].wants_gradient;
  noted.like_leaf = leaf && traits.fills && !traits.copies;
  if (leaf && traits.initialises) first->evidence.Note(Sign::kInitialised);
  // A block that was allocated outside of modules belongs to the module call that writes to it.
  if (first != nullptr && traits.writes && range.phase == Phase::kForward && first->evidence.phase == Phase::kOther) {
    first->model_call = calls.model_call;
    first->model = calls.model;
  }
}

void UseEvidence::NoteUse(const RangeBeginEvent& event, const OpenModuleCalls& calls, WatchedBlock& watched) {
  const OpenRange& range = *event.range;
  watched.live_judgement = {};
  Evidence& evidence = watched.evidence;
  evidence.Note(Sign::kTensor);
  if (range.source == RangeSource::kBackward) return evidence.Note(Sign::kNodeArgument);
  const RangeTraits traits = shared_->FindTraits(range.name);
  const bool views = traits.saves != nullptr && traits.saves->is_view;
  watched.blank = watched.blank && views;
  if (range.innermost_backward >= 0) {
    const bool outermost = range.is_operator && range.outermost_operator == static_cast<std::int32_t>(range.depth);
    if (outermost && !views && !traits.writes && shared_->IsOpen(watched.thread, watched.node))
      evidence.Note(Sign::kReadByItsNode);
    return evidence.Note(Sign::kReadInBackward);
  }
  evidence.Note(Sign::kReadOutside);
  if (range.phase == Phase::kOther) evidence.Note(Sign::kReadByProgram);
  if (!calls.Contains(watched.module_call)) evidence.Note(Sign::kReadAfterCall);
  if (calls.model_call == 0 || watched.model_call == 0 || watched.model_call == calls.model_call) return;
  // The block is carried if the model that made it reads it in a later call, or if other models read it in two calls.
  if (watched.model == calls.model || (watched.read_call != 0 && watched.read_call != calls.model_call))
    evidence.Note(Sign::kCarried);
  watched.read_call = calls.model_call;
}

void UseEvidence::NoteResults(const RangeEndEvent& event) {
  for (const Tensor& tensor : event.tensors) {
    WatchedBlock* const watched = shared_->blocks.Find(tensor);
    if (watched == nullptr) continue;
    watched->evidence.Note(Sign::kTensor);
    watched->NoteLayout(tensor.layout);
  }
}

}  // namespace memoir
