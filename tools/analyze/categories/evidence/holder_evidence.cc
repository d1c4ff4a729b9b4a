// Evidence from the events in which modules, optimizers and autograd list the tensors that they hold.
#include "tools/analyze/categories/evidence/evidence_pass.h"
#include "tools/model/held_tensor_lists.h"

namespace memoir {
void EvidencePass::OnHolds(const HoldsEvent& event) {
  if (!event.signature.valid()) return;
  if (event.is_gradient) return NoteGradient(event);
  ThreadFacts& facts = FactsOf(event.thread);
  if (!event.more) {
    facts.holder = event.module;
    facts.holder_is_module = event.is_module;
    facts.parameters = facts.buffers = 0;
  }
  if (facts.holder_is_module) {
    HoldByModule(event, facts);
  } else {
    HoldByOptimizer(event);
  }
}

void EvidencePass::Hold(const Tensor& tensor, Sign sign, ParameterNumber parameter) {
  WatchedBlock* watched = FindWatched(tensor);
  if (watched == nullptr) return;
  watched->live_judgement = {};
  watched->evidence.Note(sign);
  if (watched->evidence.parameter == kNoParameter) watched->evidence.parameter = parameter;
  const bool parameter_itself = sign == Sign::kModuleParameter || sign == Sign::kOptimizedParameter;
  if (!parameter_itself || watched->copied_from == kNoOrdinal) return;
  // The block is a parameter and a copy, so the source of the copy counts as a parameter, too. The source may
  // already be freed.
  const RuleNumber copied = rules_.RuleOf(watched->copied_from);
  if (copied == kNotJudged) {
    moved_.insert(watched->copied_from);
  } else if (Rules()[copied].kept == Category::kInput) {
    Evidence moved;
    moved.Note(Sign::kMovedParameter);
    rules_.Set(watched->copied_from, RuleFor(moved));
  }
}

void EvidencePass::HoldGradient(const Tensor& leaf, const Tensor& gradient, ParameterNumber parameter) {
  Hold(gradient, Sign::kParameterGradient, parameter);
  WatchedBlock* of = FindWatched(leaf);
  WatchedBlock* held = FindWatched(gradient);
  if (held == nullptr) return;
  if (of != nullptr) {
    of->gradient = {SlotOf(*held), held->ordinal};
    held->gradient_of = {SlotOf(*of), of->ordinal};
  }
  places_.Note(held->place, {RuleFor(held->evidence), SlotOf(*held), held->ordinal, held->gradient_of.slot,
                             held->gradient_of.ordinal});
}

BookedTensor EvidencePass::BookTensor(const Tensor& tensor) {
  const WatchedBlock* watched = FindWatched(tensor);
  return {tensor.impl, tensor.layout, watched == nullptr ? BookedTensor::kNoBlock : watched->ordinal};
}

void EvidencePass::HoldByModule(const HoldsEvent& event, ThreadFacts& facts) {
  HeldTensorLists lists(event, state_->dictionary());
  const absl::Span<const Tensor> parameters = lists.Next();
  const absl::Span<const Tensor> gradients = lists.Next();
  const absl::Span<const Tensor> buffers = lists.Next();
  trains_ = trains_ || !parameters.empty();
  const auto name = [&](std::size_t index) { return index < event.names.size() ? event.names[index] : NameId(); };
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].impl == 0) continue;
    const ParameterNumber number =
        book_.AddNamed(event.process, facts.holder, name(i), facts.parameters++, false, BookTensor(parameters[i]));
    Hold(parameters[i], Sign::kModuleParameter, number);
    if (i < gradients.size() && gradients[i].impl != 0) HoldGradient(parameters[i], gradients[i], number);
  }
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].impl == 0) continue;
    const NameId of = name(parameters.size() + i);
    Hold(buffers[i], Sign::kModuleBuffer,
         book_.AddNamed(event.process, facts.holder, of, facts.buffers++, true, BookTensor(buffers[i])));
  }
}

void EvidencePass::HoldByOptimizer(const HoldsEvent& event) {
  HeldTensorLists lists(event, state_->dictionary());
  const absl::Span<const Tensor> parameters = lists.Next();
  const absl::Span<const Tensor> gradients = lists.Next();
  trains_ = trains_ || !parameters.empty();
  stepped_ = true;
  std::vector<ParameterNumber> numbers;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    numbers.push_back(parameters[i].impl == 0 ? kNoParameter : book_.AddLeaf(event.process, BookTensor(parameters[i])));
    if (parameters[i].impl == 0) continue;
    Hold(parameters[i], Sign::kOptimizedParameter, numbers[i]);
    if (i < gradients.size() && gradients[i].impl != 0) HoldGradient(parameters[i], gradients[i], numbers[i]);
  }
  // One list of state for each parameter. Older recordings have all state in one list.
  const bool by_parameter = lists.size() == parameters.size() + 2;
  for (std::size_t list = 2; list < lists.size(); ++list) {
    const ParameterNumber number = by_parameter ? numbers[list - 2] : kNoParameter;
    for (const Tensor& state : lists.Next()) Hold(state, Sign::kOptimizerState, number);
  }
}

// Notes that autograd accumulated the gradient of a leaf.
void EvidencePass::NoteGradient(const HoldsEvent& event) {
  HeldTensorLists lists(event, state_->dictionary());
  const absl::Span<const Tensor> leaf = lists.Next();
  const absl::Span<const Tensor> gradient = lists.Next();
  if (leaf.empty() || leaf[0].impl == 0) return;
  const ParameterNumber number = book_.AddLeaf(event.process, BookTensor(leaf[0]));
  const WatchedBlock* known = FindWatched(leaf[0]);
  const bool again = known != nullptr && known->evidence.Has(Sign::kLeaf);
  Hold(leaf[0], again ? Sign::kLeafAgain : Sign::kLeaf, number);
  if (!gradient.empty() && gradient[0].impl != 0) HoldGradient(leaf[0], gradient[0], number);
}

}  // namespace memoir
