// The part of the evidence that autograd gives: which nodes may keep a block, which have run, and that what an operator
// computed is differentiable. That shows when autograd runs its node, and then the blocks may have ended.
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
      if (graph_.Keepers(block) == 0 && watched.evidence.phase == Phase::kForward) let_go_.push_back(block);
    }
  }
  for (GraphBook::Ended ended : ran->ended) {
    ended.evidence.Note(Sign::kDifferentiable);
    rules_[ended.ordinal] = RuleFor(ended.evidence);
    places_.Note(ended.place, {rules_[ended.ordinal], 0, ended.ordinal});
  }
  return ran->place;
}

// Of leaves that its operator was given the node computes gradients: as many bytes each. A size that something else has
// that it was given tells nothing. Where more nodes than that of a view (aten::t) are to come, autograd adds up what
// each of them gives, and none of that is the gradient.
void EvidencePass::NoteOwed(const GraphBook::Node& ran, ThreadFacts& facts) {
  for (const BlockRef& block : ran.given) {
    if (!Lives(block)) continue;
    Watched& leaf = watched_[block.slot];
    const bool wants = leaf.evidence.IsParameter() || leaf.evidence.Has(Sign::kWantsGradient);
    if (!wants || leaf.evidence.phase == Phase::kForward || Lives(leaf.gradient)) continue;
    if (graph_.Keepers(block) > 1) leaf.summed_pass = passes_begun_;
    if (leaf.summed_pass != passes_begun_) facts.owed.push_back(leaf.bytes);
  }
  for (const BlockRef& block : ran.given) {
    if (facts.owed.empty() || !Lives(block)) continue;
    const Watched& other = watched_[block.slot];
    if (!other.evidence.IsParameter() && !other.evidence.Has(Sign::kWantsGradient))
      std::erase(facts.owed, other.bytes);
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

// Nodes that the operator may make may save what it is given.
void EvidencePass::NoteGiven(const RangeBeginEvent& event) {
  const OpenRange& range = *event.range;
  if (range.source == RangeSource::kBackward || range.source == RangeSource::kUser || range.role.backward ||
      range.sequence < 0 || !event.thread.valid())
    return;
  const GradStep step{state_->dictionary().thread(event.thread).torch_id, range.sequence};
  const std::uint64_t place = places_.Here(event.thread);
  for (const Tensor& tensor : event.tensors) {
    const Watched* watched = At(tensor);
    if (watched == nullptr || watched == &late_) continue;
    if (!graph_.Give(step, range.call, place, {SlotOf(*watched), watched->ordinal})) return;
  }
  ThreadFacts& facts = FactsOf(event.thread);
  facts.newest = step;
  facts.newest_operator = RangeAt(*event.stack, static_cast<std::int32_t>(range.depth));
}

// The innermost range with an autograd sequence number has computed it.
void EvidencePass::NoteMaker(const RangeStack& stack, ThreadId thread, Watched& watched, std::uint32_t slot) {
  for (auto range = stack.rbegin(); range != stack.rend() && !range->role.backward; ++range) {
    if (range->source == RangeSource::kUser || range->sequence < 0) continue;
    watched.evidence.Note(Sign::kGradMode);
    watched.place ^= watched.place == PlaceBook::kNowhere ? 0 : 1;  // training and inference are places of their own
    if (slot == Block::kNoSlot) return;
    const GradStep step{state_->dictionary().thread(thread).torch_id, range->sequence};
    if (!graph_.Compute(step, range->call, places_.Here(thread), {slot, watched.ordinal})) return;
    watched.computed_by = step;
    watched.computed_call = range->call;
    return;
  }
}

void EvidencePass::LeaveComputed(const Watched& watched, std::uint32_t slot) {
  Evidence differentiable = watched.evidence;
  differentiable.Note(Sign::kDifferentiable);
  std::optional<GraphBook::Ended> otherwise;
  if (RuleFor(differentiable) != rules_[watched.ordinal])
    otherwise = GraphBook::Ended{watched.ordinal, watched.place, watched.evidence};
  graph_.BlockEnds(watched.computed_by, watched.computed_call, {slot, watched.ordinal}, otherwise);
}

}  // namespace memoir
