// The part of the evidence that autograd gives: which nodes may keep a block, which have run, and that what an operator
// computed is differentiable. That shows when autograd runs its node, and then the blocks may have ended.
#include <algorithm>
#include <vector>

#include "tools/analyze/categories/evidence_pass.h"

namespace memoir {

// What the forward operator of this node has computed is differentiable. Returns where that ran.
std::uint64_t EvidencePass::NoteNode(const RangeBeginEvent& event) {
  const OpenRange& node = *event.range;
  ThreadFacts& facts = FactsOf(event.thread);
  facts.node = RangeAt(*event.stack, static_cast<std::int32_t>(node.depth));
  facts.owed.clear();
  if (!pass_open_) ++passes_begun_;
  pass_open_ = true;
  const std::optional<GraphBook::Node> ran = graph_.Run({node.forward_thread, node.sequence});
  if (!ran) return PlaceBook::kNowhere;
  NoteOwed(*ran, facts);
  for (const std::vector<BlockRef>* blocks : {&ran->computed, &ran->given}) {
    for (const BlockRef& block : *blocks) {
      Watched& watched = watched_[block.slot];
      if (watched.ordinal != block.ordinal) continue;
      if (blocks == &ran->computed) watched.evidence.Note(Sign::kDifferentiable);
      const bool in_backward = watched.evidence.phase == Phase::kBackward && block.saved != GraphBook::Saves::kNo;
      if (in_backward || block.saved == GraphBook::Saves::kYes) watched.evidence.Note(Sign::kSaved);
      if (block.saved != GraphBook::Saves::kNo && graph_.Keepers(block) == 0 &&
          watched.evidence.phase == Phase::kForward)
        let_go_.push_back(block);
    }
  }
  for (GraphBook::Ended ended : ran->ended) {
    ended.evidence.Note(Sign::kDifferentiable);
    const RuleNumber rule = RuleFor(ended.evidence);
    rules_.Set(ended.ordinal, rule);
    places_.Note(ended.place, {.rule = rule, .ordinal = ended.ordinal});
  }
  return ran->place;
}

// Of leaves that its operator was given the node computes gradients: as many bytes each. Where more nodes than that of
// a view (aten::t) are to come, autograd adds up what each of them gives, and none of that is the gradient. What FSDP
// gathers is a leaf that forward makes.
void EvidencePass::NoteOwed(const GraphBook::Node& ran, ThreadFacts& facts) {
  for (const BlockRef& block : ran.given) {
    if (!Lives(block)) continue;
    Watched& leaf = watched_[block.slot];
    const bool wants = leaf.evidence.IsParameter() || leaf.evidence.Has(Sign::kWantsGradient);
    const bool computed = leaf.evidence.phase == Phase::kForward && !leaf.evidence.Has(Sign::kGathered);
    if (!wants || computed || Lives(leaf.gradient)) continue;
    if (graph_.Users(block) > 1) leaf.summed_pass = passes_begun_;
    if (leaf.summed_pass != passes_begun_) facts.owed.push_back({leaf.bytes, block});
  }
  for (const BlockRef& block : ran.given) {
    if (facts.owed.empty() || !Lives(block)) continue;
    const Watched& other = watched_[block.slot];
    if (other.evidence.IsParameter() || other.evidence.Has(Sign::kWantsGradient)) continue;
    for (Owed& owed : facts.owed) {
      if (owed.bytes == other.bytes) owed.other = block;
    }
  }
}

// A pass has ended when forward or the optimizer goes on. Of what it has let go only what the program holds is still
// there; what it never saw is, too, where the graph was kept: retain_graph=True.
void EvidencePass::EndPass() {
  if (!pass_open_) return;
  pass_open_ = false;
  ++passes_ended_;
  std::uint64_t inner = 0;
  std::vector<Watched*> kept;
  for (const BlockRef& block : let_go_) {
    Watched& watched = watched_[block.slot];
    const bool lives = watched.ordinal == block.ordinal;
    if (lives && watched.evidence.Has(Sign::kReadByProgram)) continue;
    ++inner;
    if (lives && watched.evidence.Has(Sign::kReadInBackward)) kept.push_back(&watched);
  }
  if (2 * kept.size() > inner) {
    for (Watched* watched : kept) watched->evidence.Note(Sign::kRetained);
  }
  let_go_.clear();
}

namespace {

using Saves = GraphBook::Saves;

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

Saves SavesIf(Wants wants) {
  return wants == Wants::kYes ? Saves::kYes : (wants == Wants::kMaybe ? Saves::kMaybe : Saves::kNo);
}

bool IsDifferentiable(const Layout& layout) {
  return layout.dtype_name.starts_with("float") || layout.dtype_name.starts_with("bfloat") ||
         layout.dtype_name.starts_with("complex");
}

}  // namespace

// Nodes that the operator may make may save what it is given.
void EvidencePass::NoteGiven(const RangeBeginEvent& event) {
  const OpenRange& range = *event.range;
  if (range.source == RangeSource::kBackward || IsOfUser(range.source) || range.role.backward || range.sequence < 0 ||
      !event.thread.valid())
    return;
  const Dictionary& dictionary = state_->dictionary();
  ThreadFacts& facts = FactsOf(event.thread);
  while (!facts.numbered.empty() && facts.numbered.back().depth >= range.depth) facts.numbered.pop_back();
  const GradStep step{dictionary.thread(event.thread).torch_id, range.sequence};
  const SavedTensors* saves = marks_.Of(range.name, dictionary).saves;
  // Backward takes what was saved as tensors that no operator has shown.
  const Wants least = range.innermost_backward >= 0 ? Wants::kMaybe : Wants::kNo;
  const bool makes_none = saves != nullptr && saves->makes_none;
  const Wants wants = makes_none ? Wants::kNo : std::max(least, wants_.OfAny(event.tensors));
  facts.numbered.push_back({range.depth, range.call, step, wants, saves, {}});
  facts.newest = step;
  // Autograd records in backward where that is to be differentiated itself.
  const bool records = wants == Wants::kYes || (wants == Wants::kMaybe && range.innermost_backward >= 0);
  facts.newest_is_sure = saves != nullptr && !saves->is_view && records;
  facts.newest_operator = RangeAt(*event.stack, static_cast<std::int32_t>(range.depth));
  if (!event.signature.valid()) return;
  const Signature& signature = dictionary.signature(event.signature);
  std::vector<Wants> wanted(signature.kinds.size(), least);
  ForEachTensor(event.tensors, signature, [&](const Tensor& tensor, std::size_t position) {
    wanted[position] = std::max(wanted[position], wants_.Of(tensor));
  });
  const auto saved = [&](std::size_t position) {
    if (saves == nullptr || wants == Wants::kNo) return std::min(SavesIf(wants), Saves::kMaybe);
    Saves all = Saves::kNo;
    for (const SavedTensors::Argument& argument : saves->arguments) {
      if (argument.position != position) continue;
      const bool always = argument.wanted_by == SavedTensors::kAlways || argument.wanted_by >= wanted.size();
      all = std::max(all, std::min(SavesIf(wants), always ? Saves::kYes : SavesIf(wanted[argument.wanted_by])));
    }
    return all;
  };
  const std::uint64_t place = places_.Here(event.thread);
  ForEachTensor(event.tensors, signature, [&](const Tensor& tensor, std::size_t position) {
    const Watched* watched = At(tensor);
    if (watched == nullptr || watched == &late_) return;
    const BlockRef block{SlotOf(*watched), watched->ordinal, saved(position)};
    if (graph_.Give(step, range.call, place, block)) NoteOpen(facts, block);
  });
}

// An operator made of others may still give a block to one of these, which tells whether it is saved.
void EvidencePass::NoteOpen(ThreadFacts& facts, const BlockRef& block) {
  Numbered& innermost = facts.numbered.back();
  if (innermost.saves == nullptr) {
    if (innermost.wants != Wants::kNo) innermost.given.push_back(block);
  } else if (!innermost.saves->is_view) {
    for (Numbered& around : facts.numbered) {
      std::erase_if(around.given, [&](const BlockRef& given) { return given.ordinal == block.ordinal; });
    }
  }
}

// Whether what an operator gives wants a gradient, and what of it its node saves.
void EvidencePass::NoteSaved(const RangeEndEvent& event) {
  if (!event.thread.valid()) return;
  ThreadFacts& facts = FactsOf(event.thread);
  const OpenRange& range = *event.range;
  while (!facts.numbered.empty() && facts.numbered.back().depth > range.depth) facts.numbered.pop_back();
  const bool is_numbered = !facts.numbered.empty() && facts.numbered.back().call == range.call;
  if (!is_numbered) {
    // Below autograd, or no_grad: a function of the program's hands on as its own what it computes so.
    const bool in_place = marks_.Of(range.name, state_->dictionary()).writes;
    const Wants wants = facts.numbered.empty() ? Wants::kNo : Wants::kMaybe;
    if (in_place || IsOfUser(range.source)) return;
    for (const Tensor& tensor : event.tensors) wants_.Note(tensor, wants, 0);
    return;
  }
  const Numbered numbered = facts.numbered.back();
  facts.numbered.pop_back();
  const bool whole = numbered.saves != nullptr && !numbered.saves->is_view;  // else operators inside may have said it
  for (const Tensor& tensor : event.tensors) {
    if (!whole && range.is_operator && wants_.IsKnownSince(tensor, range.call)) continue;
    const bool may = tensor.layout.valid() && IsDifferentiable(state_->dictionary().layout(tensor.layout));
    wants_.Note(tensor, may ? numbered.wants : Wants::kNo, range.call);
  }
  if (numbered.saves != nullptr && event.signature.valid()) NoteSavedResults(event, numbered);
}

void EvidencePass::NoteSavedResults(const RangeEndEvent& event, const Numbered& numbered) {
  std::vector<BlockRef> saved;
  const Signature& signature = state_->dictionary().signature(event.signature);
  ForEachTensor(event.tensors, signature, [&](const Tensor& tensor, std::size_t position) {
    const Watched* watched = At(tensor);
    if (watched == nullptr || watched == &late_) return;
    if (std::ranges::find(numbered.saves->results, position) == numbered.saves->results.end()) return;
    const BlockRef block{SlotOf(*watched), watched->ordinal, SavesIf(numbered.wants)};
    saved.push_back(block);
    // What it writes to in place was made before.
    if (watched->computed_by != numbered.step || watched->computed_call != numbered.call)
      graph_.Give(numbered.step, numbered.call, places_.Here(event.thread), block);
  });
  graph_.Settle(numbered.step, numbered.call, saved);
}

// Which result a block will be shows at the operator's end. Operators mostly allocate them in their order.
GraphBook::Saves EvidencePass::MayBeSaved(const GradStep& step, std::uint64_t call, const SavedTensors& saves) const {
  const std::size_t position = graph_.Computed(step, call);
  return std::ranges::find(saves.results, position) == saves.results.end() ? Saves::kNo : Saves::kMaybe;
}

// The innermost range with an autograd sequence number has computed it.
void EvidencePass::NoteMaker(const RangeStack& stack, ThreadId thread, Watched& watched, std::uint32_t slot) {
  for (auto range = stack.rbegin(); range != stack.rend() && !range->role.backward; ++range) {
    if (IsOfUser(range->source) || range->sequence < 0) continue;
    watched.evidence.Note(Sign::kGradMode);
    watched.place ^= watched.place == PlaceBook::kNowhere ? 0 : 1;  // training and inference are places of their own
    const std::vector<Numbered>& numbered = FactsOf(thread).numbered;
    const bool makes_none =
        !numbered.empty() && numbered.back().call == range->call && numbered.back().wants == Wants::kNo;
    if (slot == Block::kNoSlot || makes_none) return;
    const GradStep step{state_->dictionary().thread(thread).torch_id, range->sequence};
    const bool known = !numbered.empty() && numbered.back().call == range->call && numbered.back().saves != nullptr;
    const Saves saves = known ? MayBeSaved(step, range->call, *numbered.back().saves) : Saves::kMaybe;
    if (!graph_.Compute(step, range->call, places_.Here(thread), {slot, watched.ordinal, saves})) return;
    watched.computed_by = step;
    watched.computed_call = range->call;
    return;
  }
}

void EvidencePass::LeaveComputed(const Watched& watched, std::uint32_t slot) {
  Evidence differentiable = watched.evidence;
  differentiable.Note(Sign::kDifferentiable);
  std::optional<GraphBook::Ended> otherwise;
  if (RuleFor(differentiable) != rules_.Of(watched.ordinal))
    otherwise = GraphBook::Ended{watched.ordinal, watched.place, watched.evidence};
  graph_.BlockEnds(watched.computed_by, watched.computed_call, {slot, watched.ordinal}, otherwise);
}

}  // namespace memoir
