// Evidence from autograd: which nodes may keep a block, which nodes have run, and whether the result of an operator is
// differentiable. A result is known to be differentiable only when the operator's node runs. The operator's blocks may
// have been freed by then.
#include <algorithm>
#include <vector>

#include "tools/analyze/categories/evidence/evidence_pass.h"

namespace memoir {

// Notes that an autograd node runs, which proves that the results of its forward operator are differentiable. Returns
// the place in which the forward operator ran.
std::uint64_t EvidencePass::NoteNode(const RangeBeginEvent& event) {
  const OpenRange& node = *event.range;
  ThreadFacts& facts = FactsOf(event.thread);
  facts.node = RangeAt(*event.stack, static_cast<std::int32_t>(node.depth));
  facts.owed.clear();
  if (!pass_open_) ++passes_begun_;
  pass_open_ = true;
  const std::optional<AutogradGraphBook::Node> ran = graph_.RunNode({node.forward_thread, node.sequence});
  if (!ran) return AllocationPlaces::kNowhere;
  NoteOwed(*ran, facts);
  for (const std::vector<BlockRef>* blocks : {&ran->computed, &ran->given}) {
    for (const BlockRef& block : *blocks) {
      WatchedBlock& watched = watched_[block.slot];
      if (watched.ordinal != block.ordinal) continue;
      if (blocks == &ran->computed) watched.evidence.Note(Sign::kDifferentiable);
      const bool in_backward =
          watched.evidence.phase == Phase::kBackward && block.saved != AutogradGraphBook::Saving::kNo;
      if (in_backward || block.saved == AutogradGraphBook::Saving::kYes) watched.evidence.Note(Sign::kSaved);
      if (block.saved != AutogradGraphBook::Saving::kNo && graph_.CountHolders(block) == 0 &&
          watched.evidence.phase == Phase::kForward)
        let_go_.push_back(block);
    }
  }
  for (AutogradGraphBook::EndedBlock ended : ran->ended) {
    ended.evidence.Note(Sign::kDifferentiable);
    const RuleNumber rule = RuleFor(ended.evidence);
    rules_.Set(ended.ordinal, rule);
    places_.Note(ended.place, {.rule = rule, .ordinal = ended.ordinal});
  }
  return ran->place;
}

// Notes the leaves whose gradients the node computes: leaves that its forward operator received. A gradient has the
// size of its leaf. If several nodes use a leaf, autograd adds their results, so no single result is the gradient. A
// block that was allocated in forward is not a leaf, unless FSDP gathered a parameter into it.
void EvidencePass::NoteOwed(const AutogradGraphBook::Node& ran, ThreadFacts& facts) {
  for (const BlockRef& block : ran.given) {
    if (!IsLive(block)) continue;
    WatchedBlock& leaf = watched_[block.slot];
    const bool wants = leaf.evidence.IsParameter() || leaf.evidence.Has(Sign::kWantsGradient);
    const bool computed = leaf.evidence.phase == Phase::kForward && !leaf.evidence.Has(Sign::kGathered);
    if (!wants || computed || IsLive(leaf.gradient)) continue;
    if (graph_.CountUsers(block) > 1) leaf.summed_pass = passes_begun_;
    if (leaf.summed_pass != passes_begun_) facts.owed.push_back({leaf.bytes, block});
  }
  for (const BlockRef& block : ran.given) {
    if (facts.owed.empty() || !IsLive(block)) continue;
    const WatchedBlock& other = watched_[block.slot];
    if (other.evidence.IsParameter() || other.evidence.Has(Sign::kWantsGradient)) continue;
    for (OwedGradient& owed : facts.owed) {
      if (owed.bytes == other.bytes) owed.other = block;
    }
  }
}

// Ends a backward pass, because forward or the optimizer continues. A block that the pass released is now live only if
// the program holds it, or if the graph was retained (retain_graph=True). If most of these blocks are live, the graph
// was retained.
void EvidencePass::EndPass() {
  if (!pass_open_) return;
  pass_open_ = false;
  ++passes_ended_;
  std::uint64_t inner = 0;
  std::vector<WatchedBlock*> kept;
  for (const BlockRef& block : let_go_) {
    WatchedBlock& watched = watched_[block.slot];
    const bool lives = watched.ordinal == block.ordinal;
    if (lives && watched.evidence.Has(Sign::kReadByProgram)) continue;
    ++inner;
    if (lives && watched.evidence.Has(Sign::kReadInBackward)) kept.push_back(&watched);
  }
  if (2 * kept.size() > inner) {
    for (WatchedBlock* watched : kept) watched->evidence.Note(Sign::kRetained);
  }
  let_go_.clear();
}

namespace {

using Saving = AutogradGraphBook::Saving;

// Calls `each` with every tensor of a list of arguments or results, and the position of its argument.
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
void EvidencePass::NoteGiven(const RangeBeginEvent& event) {
  const OpenRange& range = *event.range;
  if (range.source == RangeSource::kBackward || IsUserRange(range.source) || range.role.backward ||
      range.sequence < 0 || !event.thread.valid())
    return;
  const Dictionary& dictionary = state_->dictionary();
  ThreadFacts& facts = FactsOf(event.thread);
  while (!facts.numbered.empty() && facts.numbered.back().depth >= range.depth) facts.numbered.pop_back();
  const GradStep step{dictionary.thread(event.thread).torch_id, range.sequence};
  const OperatorSaves* saves = traits_.FindTraits(range.name, dictionary).saves;
  // Operators in backward also receive saved tensors. torch may unpack a saved tensor into a new TensorImpl, which no
  // operator has returned, so it is unknown whether the tensor requires a gradient.
  const GradientWant least = range.innermost_backward >= 0 ? GradientWant::kMaybe : GradientWant::kNo;
  const bool makes_none = saves != nullptr && saves->makes_none;
  const GradientWant wants = makes_none ? GradientWant::kNo : std::max(least, wants_.StrongestWantOf(event.tensors));
  facts.numbered.push_back({range.depth, range.call, step, wants, saves, {}});
  facts.newest = step;
  // In backward, autograd records only if the program differentiates backward itself (create_graph=True).
  const bool records = wants == GradientWant::kYes || (wants == GradientWant::kMaybe && range.innermost_backward >= 0);
  facts.newest_is_sure = saves != nullptr && !saves->is_view && records;
  facts.newest_operator = RangeAt(*event.stack, static_cast<std::int32_t>(range.depth));
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
  const std::uint64_t place = places_.CurrentPlace(event.thread);
  ForEachTensor(event.tensors, signature, [&](const Tensor& tensor, std::size_t position) {
    const WatchedBlock* watched = FindWatched(tensor);
    if (watched == nullptr || watched == &late_) return;
    const BlockRef block{SlotOf(*watched), watched->ordinal, saved(position)};
    if (graph_.AddGiven(step, range.call, place, block)) NoteOpen(facts, block);
  });
}

// Notes an argument of the innermost open operator. If the table of derivatives has no entry for an operator, the
// operator may pass the argument on to an inner operator. The entry of the inner operator then decides whether the
// argument is saved.
void EvidencePass::NoteOpen(ThreadFacts& facts, const BlockRef& block) {
  NumberedOperator& innermost = facts.numbered.back();
  if (innermost.saves == nullptr) {
    if (innermost.wants != GradientWant::kNo) innermost.given.push_back(block);
  } else if (!innermost.saves->is_view) {
    for (NumberedOperator& around : facts.numbered) {
      std::erase_if(around.given, [&](const BlockRef& given) { return given.ordinal == block.ordinal; });
    }
  }
}

// Notes which results of an operator require a gradient, and which results its node saves.
void EvidencePass::NoteSaved(const RangeEndEvent& event) {
  if (!event.thread.valid()) return;
  ThreadFacts& facts = FactsOf(event.thread);
  const OpenRange& range = *event.range;
  while (!facts.numbered.empty() && facts.numbered.back().depth > range.depth) facts.numbered.pop_back();
  const bool is_numbered = !facts.numbered.empty() && facts.numbered.back().call == range.call;
  if (!is_numbered) {
    // The operator runs below autograd or without gradients. If it runs inside of a custom autograd function, its
    // results may become results of that function, and then require a gradient.
    const bool in_place = traits_.FindTraits(range.name, state_->dictionary()).writes;
    const GradientWant wants = facts.numbered.empty() ? GradientWant::kNo : GradientWant::kMaybe;
    if (in_place || IsUserRange(range.source)) return;
    for (const Tensor& tensor : event.tensors) wants_.Note(tensor, wants, 0);
    return;
  }
  const NumberedOperator numbered = facts.numbered.back();
  facts.numbered.pop_back();
  const bool whole =
      numbered.saves != nullptr && !numbered.saves->is_view;  // if false, inner operators may have noted the tensors
  for (const Tensor& tensor : event.tensors) {
    if (!whole && range.is_operator && wants_.IsKnownSince(tensor, range.call)) continue;
    const bool may = tensor.layout.valid() && IsDifferentiable(state_->dictionary().layout(tensor.layout));
    wants_.Note(tensor, may ? numbered.wants : GradientWant::kNo, range.call);
  }
  if (numbered.saves != nullptr && event.signature.valid()) NoteSavedResults(event, numbered);
}

void EvidencePass::NoteSavedResults(const RangeEndEvent& event, const NumberedOperator& numbered) {
  std::vector<BlockRef> saved;
  const Signature& signature = state_->dictionary().signature(event.signature);
  ForEachTensor(event.tensors, signature, [&](const Tensor& tensor, std::size_t position) {
    const WatchedBlock* watched = FindWatched(tensor);
    if (watched == nullptr || watched == &late_) return;
    if (std::ranges::find(numbered.saves->results, position) == numbered.saves->results.end()) return;
    const BlockRef block{SlotOf(*watched), watched->ordinal, SavesIf(numbered.wants)};
    saved.push_back(block);
    // The operator wrote in place to a block that an earlier operator made.
    if (watched->computed_by != numbered.step || watched->computed_call != numbered.call)
      graph_.AddGiven(numbered.step, numbered.call, places_.CurrentPlace(event.thread), block);
  });
  graph_.SettleSaved(numbered.step, numbered.call, saved);
}

// Returns whether the operator's node may save the block that the operator allocates now. Only the end of the operator
// shows which result the block becomes. Until then, results are assumed to be allocated in order.
AutogradGraphBook::Saving EvidencePass::MayBeSaved(const GradStep& step, std::uint64_t call,
                                                   const OperatorSaves& saves) const {
  const std::size_t position = graph_.CountComputed(step, call);
  return std::ranges::find(saves.results, position) == saves.results.end() ? Saving::kNo : Saving::kMaybe;
}

// The maker of a block is the innermost range with an autograd sequence number.
void EvidencePass::NoteMaker(const RangeStack& stack, ThreadId thread, WatchedBlock& watched, std::uint32_t slot) {
  for (auto range = stack.rbegin(); range != stack.rend() && !range->role.backward; ++range) {
    if (IsUserRange(range->source) || range->sequence < 0) continue;
    watched.evidence.Note(Sign::kGradMode);
    // A block of training and a block of inference must have different places.
    watched.place ^= watched.place == AllocationPlaces::kNowhere ? 0 : 1;
    const std::vector<NumberedOperator>& numbered = FactsOf(thread).numbered;
    const bool makes_none =
        !numbered.empty() && numbered.back().call == range->call && numbered.back().wants == GradientWant::kNo;
    if (slot == Block::kNoSlot || makes_none) return;
    const GradStep step{state_->dictionary().thread(thread).torch_id, range->sequence};
    const bool known = !numbered.empty() && numbered.back().call == range->call && numbered.back().saves != nullptr;
    const Saving saves = known ? MayBeSaved(step, range->call, *numbered.back().saves) : Saving::kMaybe;
    if (!graph_.AddComputed(step, range->call, places_.CurrentPlace(thread), {slot, watched.ordinal, saves})) return;
    watched.computed_by = step;
    watched.computed_call = range->call;
    return;
  }
}

void EvidencePass::LeaveComputed(const WatchedBlock& watched, std::uint32_t slot) {
  Evidence differentiable = watched.evidence;
  differentiable.Note(Sign::kDifferentiable);
  std::optional<AutogradGraphBook::EndedBlock> otherwise;
  if (RuleFor(differentiable) != rules_.RuleOf(watched.ordinal))
    otherwise = AutogradGraphBook::EndedBlock{watched.ordinal, watched.place, watched.evidence};
  graph_.EndBlock(watched.computed_by, watched.computed_call, {slot, watched.ordinal}, otherwise);
}

}  // namespace memoir
