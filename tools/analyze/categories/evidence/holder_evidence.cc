#include "tools/analyze/categories/evidence/holder_evidence.h"

#include <cstddef>

#include "absl/types/span.h"
#include "tools/analyze/categories/rules.h"
#include "tools/model/event/held_tensor_lists.h"

namespace memoir {

void HolderEvidence::NoteHolds(const HeldTensorsEvent& event) {
  if (!event.signature.valid()) return;
  if (event.is_gradient) return NoteGradient(event);
  NewestHolder& newest = threads_.Of(event.thread);
  if (!event.more) {
    newest.holder = event.module;
    newest.holder_is_module = event.is_module;
    newest.parameters = newest.buffers = 0;
  }
  if (newest.holder_is_module) {
    HoldByModule(event, newest);
  } else {
    HoldByOptimizer(event);
  }
}

void HolderEvidence::Hold(const Tensor& tensor, Sign sign, ParameterNumber parameter) {
  WatchedBlock* watched = shared_->blocks.Find(tensor);
  if (watched == nullptr) return;
  watched->live_judgement = {};
  watched->evidence.Note(sign);
  if (watched->evidence.parameter == kNoParameter) watched->evidence.parameter = parameter;
  const bool parameter_itself = sign == Sign::kModuleParameter || sign == Sign::kOptimizedParameter;
  // The block is a parameter and a copy, so the source of the copy also counts as a parameter.
  if (parameter_itself && watched->copied_from != kNoOrdinal) copies_->NoteMoved(watched->copied_from);
}

void HolderEvidence::HoldGradient(const Tensor& leaf, const Tensor& gradient, ParameterNumber parameter) {
  Hold(gradient, Sign::kParameterGradient, parameter);
  WatchedBlocks& blocks = shared_->blocks;
  WatchedBlock* of = blocks.Find(leaf);
  WatchedBlock* held = blocks.Find(gradient);
  if (held == nullptr) return;
  if (of != nullptr) {
    of->gradient = {blocks.SlotOf(*held), held->ordinal};
    held->gradient_of = {blocks.SlotOf(*of), of->ordinal};
  }
  shared_->places.Note(held->place, {RuleFor(held->evidence), blocks.SlotOf(*held), held->ordinal,
                                     held->gradient_of.slot, held->gradient_of.ordinal});
}

BookedTensor HolderEvidence::BookTensor(const Tensor& tensor) {
  const WatchedBlock* watched = shared_->blocks.Find(tensor);
  return {tensor.impl, tensor.layout, watched == nullptr ? BookedTensor::kNoBlock : watched->ordinal};
}

void HolderEvidence::HoldByModule(const HeldTensorsEvent& event, NewestHolder& newest) {
  HeldTensorLists lists(event, shared_->dictionary());
  const absl::Span<const Tensor> parameters = lists.Next();
  const absl::Span<const Tensor> gradients = lists.Next();
  const absl::Span<const Tensor> buffers = lists.Next();
  shared_->trains = shared_->trains || !parameters.empty();
  const auto name = [&](std::size_t index) { return index < event.names.size() ? event.names[index] : NameId(); };
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].impl == 0) continue;
    const ParameterNumber number =
        book_.AddNamed(event.process, newest.holder, name(i), newest.parameters++, false, BookTensor(parameters[i]));
    Hold(parameters[i], Sign::kModuleParameter, number);
    if (i < gradients.size() && gradients[i].impl != 0) HoldGradient(parameters[i], gradients[i], number);
  }
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].impl == 0) continue;
    const NameId of = name(parameters.size() + i);
    Hold(buffers[i], Sign::kModuleBuffer,
         book_.AddNamed(event.process, newest.holder, of, newest.buffers++, true, BookTensor(buffers[i])));
  }
}

void HolderEvidence::HoldByOptimizer(const HeldTensorsEvent& event) {
  HeldTensorLists lists(event, shared_->dictionary());
  const absl::Span<const Tensor> parameters = lists.Next();
  const absl::Span<const Tensor> gradients = lists.Next();
  shared_->trains = shared_->trains || !parameters.empty();
  stepped_ = true;
  std::vector<ParameterNumber> numbers;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    numbers.push_back(parameters[i].impl == 0 ? kNoParameter : book_.AddLeaf(event.process, BookTensor(parameters[i])));
    if (parameters[i].impl == 0) continue;
    Hold(parameters[i], Sign::kOptimizedParameter, numbers[i]);
    if (i < gradients.size() && gradients[i].impl != 0) HoldGradient(parameters[i], gradients[i], numbers[i]);
  }
  // The event has one list of state for each parameter. In older recordings it has all state in one list.
  const bool by_parameter = lists.size() == parameters.size() + 2;
  for (std::size_t list = 2; list < lists.size(); ++list) {
    const ParameterNumber number = by_parameter ? numbers[list - 2] : kNoParameter;
    for (const Tensor& state : lists.Next()) Hold(state, Sign::kOptimizerState, number);
  }
}

// Notes that autograd accumulated the gradient of a leaf.
void HolderEvidence::NoteGradient(const HeldTensorsEvent& event) {
  HeldTensorLists lists(event, shared_->dictionary());
  const absl::Span<const Tensor> leaf = lists.Next();
  const absl::Span<const Tensor> gradient = lists.Next();
  if (leaf.empty() || leaf[0].impl == 0) return;
  const ParameterNumber number = book_.AddLeaf(event.process, BookTensor(leaf[0]));
  const WatchedBlock* known = shared_->blocks.Find(leaf[0]);
  const bool again = known != nullptr && known->evidence.Has(Sign::kLeaf);
  Hold(leaf[0], again ? Sign::kLeafAgain : Sign::kLeaf, number);
  if (!gradient.empty() && gradient[0].impl != 0) HoldGradient(leaf[0], gradient[0], number);
}

void HolderEvidence::EndBlock(const WatchedBlock& watched) {
  if (watched.evidence.parameter != kNoParameter) book_.EndBlock(watched.ordinal);
}

void HolderEvidence::EndProcess() {
  threads_.clear();
  book_.EndProcess(shared_->dictionary());
  stepped_ = false;
}

}  // namespace memoir
