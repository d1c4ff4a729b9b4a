#include "tools/analyze/categories/evidence/graph_evidence.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "absl/types/span.h"
#include "tools/analyze/categories/rules.h"
#include "tools/model/event/dictionary.h"

namespace memoir {
namespace {

using Saving = AutogradGraphBook::Saving;

// Calls `each` with every tensor of the arguments or results, and the position of the argument or result that contains
// the tensor.
template <class Function>
void ForEachTensor(absl::Span<const Tensor> tensors, const Signature& signature, Function each) {
  std::size_t next = 0, list = 0;
  for (std::size_t position = 0; position < signature.kinds.size(); ++position) {
    const char kind = signature.kinds[position];
    std::size_t taken = kind == 'T' ? 1 : 0;
    if (kind == 'L' && list < signature.list_lengths.size()) taken = signature.list_lengths[list++];
    for (; taken > 0 && next < tensors.size(); --taken) each(tensors[next++], position);
  }
}

Saving SavesIf(GradientWant wants) {
  return wants == GradientWant::kYes ? Saving::kYes : (wants == GradientWant::kMaybe ? Saving::kMaybe : Saving::kNo);
}

bool IsDifferentiable(const Layout& layout) {
  return layout.dtype_name.starts_with("float") || layout.dtype_name.starts_with("bfloat") ||
         layout.dtype_name.starts_with("complex");
}

}  // namespace

// Notes the arguments of an operator, because the operator may make a node that saves them.
void GraphEvidence::NoteGiven(const RangeBeginEvent& event) {
  const OpenRange& range = *event.range;
  if (range.source == RangeSource::kBackward || IsUserRange(range.source) || range.role.backward ||
      range.sequence < 0 || !event.thread.valid())
    return;
  const Dictionary& dictionary = shared_->dictionary();
  NumberedOperators& operators = threads_.Of(event.thread);
  std::vector<NumberedOperator>& open = operators.numbered;
  while (!open.empty() && open.back().depth >= range.depth) open.pop_back();
  const GradStep step{dictionary.thread(event.thread).torch_id, range.sequence};
  const OperatorSaves* saves = shared_->FindTraits(range.name).saves;
  // Operators in backward also receive saved tensors. torch may unpack a saved tensor into a new TensorImpl, which no
  // operator has returned, so it is unknown whether the tensor requires a gradient.
  const GradientWant least = range.innermost_backward >= 0 ? GradientWant::kMaybe : GradientWant::kNo;
  const bool makes_none = saves != nullptr && saves->makes_none;
  const GradientWant wants = makes_none ? GradientWant::kNo : std::max(least, wants_.StrongestWantOf(event.tensors));
  open.push_back({range.depth, range.call, step, wants, saves, {}});
  operators.newest = step;
  // In backward, autograd records only if the program differentiates backward itself (create_graph=True).
  const bool records = wants == GradientWant::kYes || (wants == GradientWant::kMaybe && range.innermost_backward >= 0);
  operators.newest_is_sure = saves != nullptr && !saves->is_view && records;
  operators.newest_operator = RangeAt(*event.stack, static_cast<std::int32_t>(range.depth));
  if (!event.signature.valid()) return;
  const Signature& signature = dictionary.signature(event.signature);
  std::vector<GradientWant> wanted(signature.kinds.size(), least);
  ForEachTensor(event.tensors, signature, [&](const Tensor& tensor, std::size_t position) {
    wanted[position] = std::max(wanted[position], wants_.WantOf(tensor));
  });
  const auto saved = [&](std::size_t position) {
    if (saves == nullptr || wants == GradientWant::kNo) return std::min(SavesIf(wants), Saving::kMaybe);
    Saving all = Saving::kNo;
    for (const OperatorSaves::Argument& argument : saves->arguments) {
      if (argument.position != position) continue;
      const bool always = argument.wanted_by == OperatorSaves::kAlways || argument.wanted_by >= wanted.size();
      all = std::max(all, std::min(SavesIf(wants), always ? Saving::kYes : SavesIf(wanted[argument.wanted_by])));
    }
    return all;
  };
  const std::uint64_t place = shared_->places.CurrentPlace(event.thread);
  ForEachTensor(event.tensors, signature, [&](const Tensor& tensor, std::size_t position) {
    const WatchedBlock* watched = shared_->blocks.Find(tensor);
    if (watched == nullptr || !shared_->blocks.HasSlot(*watched)) return;
    const BlockRef block{shared_->blocks.SlotOf(*watched), watched->ordinal, saved(position)};
    if (shared_->graph.AddGiven(step, range.call, place, block)) NoteOpen(operators, block);
  });
}

// Notes an argument of the innermost open operator. If the table of derivatives has no entry for an operator, the
// operator may pass the argument on to an inner operator. In this case the entry of the inner operator decides whether
// the argument is saved.
void GraphEvidence::NoteOpen(NumberedOperators& operators, const BlockRef& block) {
  NumberedOperator& innermost = operators.numbered.back();
  if (innermost.saves == nullptr) {
    if (innermost.wants != GradientWant::kNo) innermost.given.push_back(block);
  } else if (!innermost.saves->is_view) {
    for (NumberedOperator& around : operators.numbered) {
      std::erase_if(around.given, [&](const BlockRef& given) { return given.ordinal == block.ordinal; });
    }
  }
}

// Notes which results of an operator require a gradient, and which results its node saves.
void GraphEvidence::NoteSaved(const RangeEndEvent& event) {
  if (!event.thread.valid()) return;
  std::vector<NumberedOperator>& open = threads_.Of(event.thread).numbered;
  const OpenRange& range = *event.range;
  while (!open.empty() && open.back().depth > range.depth) open.pop_back();
  const bool is_numbered = !open.empty() && open.back().call == range.call;
  if (!is_numbered) {
    // The operator runs below autograd or without gradients. If it runs inside of a custom autograd function, its
    // results may become results of that function, and then require a gradient.
    const bool in_place = shared_->FindTraits(range.name).writes;
    const GradientWant wants = open.empty() ? GradientWant::kNo : GradientWant::kMaybe;
    if (in_place || IsUserRange(range.source)) return;
    for (const Tensor& tensor : event.tensors) wants_.Note(tensor, wants, 0);
    return;
  }
  const NumberedOperator numbered = open.back();
  open.pop_back();
  const bool whole =
      numbered.saves != nullptr && !numbered.saves->is_view;  // if false, inner operators may have noted the tensors
  for (const Tensor& tensor : event.tensors) {
    if (!whole && range.is_operator && wants_.IsKnownSince(tensor, range.call)) continue;
    const bool may = tensor.layout.valid() && IsDifferentiable(shared_->dictionary().layout(tensor.layout));
    wants_.Note(tensor, may ? numbered.wants : GradientWant::kNo, range.call);
  }
  if (numbered.saves != nullptr && event.signature.valid()) NoteSavedResults(event, numbered);
}

void GraphEvidence::NoteSavedResults(const RangeEndEvent& event, const NumberedOperator& numbered) {
  std::vector<BlockRef> saved;
  const Signature& signature = shared_->dictionary().signature(event.signature);
  ForEachTensor(event.tensors, signature, [&](const Tensor& tensor, std::size_t position) {
    const WatchedBlock* watched = shared_->blocks.Find(tensor);
    if (watched == nullptr || !shared_->blocks.HasSlot(*watched)) return;
    if (std::ranges::find(numbered.saves->results, position) == numbered.saves->results.end()) return;
    const BlockRef block{shared_->blocks.SlotOf(*watched), watched->ordinal, SavesIf(numbered.wants)};
    saved.push_back(block);
    // The operator wrote in place to a block that an earlier operator made.
    if (watched->computed_by != numbered.step || watched->computed_call != numbered.call)
      shared_->graph.AddGiven(numbered.step, numbered.call, shared_->places.CurrentPlace(event.thread), block);
  });
  shared_->graph.SettleSaved(numbered.step, numbered.call, saved);
}

// Returns whether the operator's node may save the block that the operator allocates now. Only the end of the operator
// shows which result the block becomes. Until then, results are assumed to be allocated in order.
AutogradGraphBook::Saving GraphEvidence::MayBeSaved(const GradStep& step, std::uint64_t call,
                                                    const OperatorSaves& saves) const {
  const std::size_t position = shared_->graph.CountComputed(step, call);
  return std::ranges::find(saves.results, position) == saves.results.end() ? Saving::kNo : Saving::kMaybe;
}

// The maker of a block is the innermost range with an autograd sequence number.
void GraphEvidence::NoteMaker(const RangeStack& stack, WatchedBlock& watched, std::uint32_t slot) {
  for (auto range = stack.rbegin(); range != stack.rend() && !range->role.backward; ++range) {
    if (IsUserRange(range->source) || range->sequence < 0) continue;
    watched.evidence.Note(Sign::kGradMode);
    // A block of training and a block of inference must have different places.
    watched.place ^= watched.place == AllocationPlaces::kNowhere ? 0 : 1;
    const std::vector<NumberedOperator>& numbered = threads_.Of(watched.thread).numbered;
    const bool makes_none =
        !numbered.empty() && numbered.back().call == range->call && numbered.back().wants == GradientWant::kNo;
    if (slot == Block::kNoSlot || makes_none) return;
    const GradStep step{shared_->dictionary().thread(watched.thread).torch_id, range->sequence};
    const bool known = !numbered.empty() && numbered.back().call == range->call && numbered.back().saves != nullptr;
    const Saving saves = known ? MayBeSaved(step, range->call, *numbered.back().saves) : Saving::kMaybe;
    const std::uint64_t place = shared_->places.CurrentPlace(watched.thread);
    if (!shared_->graph.AddComputed(step, range->call, place, {slot, watched.ordinal, saves})) return;
    watched.computed_by = step;
    watched.computed_call = range->call;
    return;
  }
}

void GraphEvidence::LeaveComputed(const WatchedBlock& watched, std::uint32_t slot) {
  Evidence differentiable = watched.evidence;
  differentiable.Note(Sign::kDifferentiable);
  std::optional<AutogradGraphBook::EndedBlock> otherwise;
  if (RuleFor(differentiable) != shared_->rules.RuleOf(watched.ordinal))
    otherwise = AutogradGraphBook::EndedBlock{watched.ordinal, watched.place, watched.evidence};
  shared_->graph.EndBlock(watched.computed_by, watched.computed_call, {slot, watched.ordinal}, otherwise);
}

// Sets whether unsure nodes count. Only the next operator of a thread shows whether the newest operator made a node, so
// the node of the newest operator is unsure. If the operator's arguments already prove that it makes a node, the node
// is sure. The node of a running operator always counts, because the operator may still make it.
void GraphEvidence::CountUnsureNodes(bool counts) {
  const std::vector<NumberedOperators>& threads = threads_.values();
  for (std::uint32_t thread = 0; thread < threads.size(); ++thread) {
    const NumberedOperators& operators = threads[thread];
    if (operators.newest != AutogradGraphBook::kNoStep && !operators.newest_is_sure &&
        !shared_->IsOpen(ThreadId{thread}, operators.newest_operator))
      shared_->graph.SetCounts(operators.newest, counts);
  }
}

bool GraphEvidence::MayStillBeGiven(const WatchedBlock& watched) const {
  const auto is = [&](const BlockRef& block) { return block.ordinal == watched.ordinal; };
  return std::ranges::any_of(threads_.values(), [&](const NumberedOperators& operators) {
    return std::ranges::any_of(operators.numbered,
                               [&](const NumberedOperator& open) { return std::ranges::any_of(open.given, is); });
  });
}

void GraphEvidence::EndProcess() {
  threads_.clear();
  wants_.Clear();
}

}  // namespace memoir
