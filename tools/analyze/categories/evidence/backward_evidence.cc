#include "tools/analyze/categories/evidence/backward_evidence.h"

#include <algorithm>
#include <optional>

#include "tools/analyze/categories/rules.h"

namespace memoir {

// Notes that an autograd node runs, which proves that the results of its forward operator are differentiable. Returns
// the place in which the forward operator ran.
std::uint64_t BackwardEvidence::NoteNode(const RangeBeginEvent& event) {
  const OpenRange& node = *event.range;
  NewestNode& newest = threads_.Of(event.thread);
  newest.node = RangeAt(*event.stack, static_cast<std::int32_t>(node.depth));
  newest.owed.clear();
  if (!shared_->passes.open) ++shared_->passes.begun;
  shared_->passes.open = true;
  const std::optional<AutogradGraphBook::Node> ran = shared_->graph.RunNode({node.forward_thread, node.sequence});
  if (!ran) return AllocationPlaces::kNowhere;
  NoteOwed(*ran, newest);
  NoteUses(*ran);
  return ran->place;
}

// Notes which blocks the node had kept, and applies the rules again to the blocks that were freed before the node ran.
void BackwardEvidence::NoteUses(const AutogradGraphBook::Node& ran) {
  for (const std::vector<BlockRef>* blocks : {&ran.computed, &ran.given}) {
    for (const BlockRef& block : *blocks) {
      WatchedBlock& watched = shared_->blocks.At(block.slot);
      if (watched.ordinal != block.ordinal) continue;
      if (blocks == &ran.computed) watched.evidence.Note(Sign::kDifferentiable);
      const bool in_backward =
          watched.evidence.phase == Phase::kBackward && block.saved != AutogradGraphBook::Saving::kNo;
      if (in_backward || block.saved == AutogradGraphBook::Saving::kYes) watched.evidence.Note(Sign::kSaved);
      if (block.saved != AutogradGraphBook::Saving::kNo && shared_->graph.CountHolders(block) == 0 &&
          watched.evidence.phase == Phase::kForward)
        let_go_.push_back(block);
    }
  }
  for (AutogradGraphBook::EndedBlock ended : ran.ended) {
    ended.evidence.Note(Sign::kDifferentiable);
    const RuleNumber rule = RuleFor(ended.evidence);
    shared_->rules.Set(ended.ordinal, rule);
    shared_->places.Note(ended.place, {.rule = rule, .ordinal = ended.ordinal});
  }
}

// Notes the leaves whose gradients the node computes: leaves that its forward operator received. A gradient has the
// size of its leaf. If several nodes use a leaf, autograd adds their results, so no single result is the gradient. A
// block that was allocated in forward is not a leaf, unless FSDP gathered a parameter into it.
void BackwardEvidence::NoteOwed(const AutogradGraphBook::Node& ran, NewestNode& newest) {
  for (const BlockRef& block : ran.given) {
    if (!shared_->blocks.IsLive(block)) continue;
    WatchedBlock& leaf = shared_->blocks.At(block.slot);
    const bool wants = leaf.evidence.IsParameter() || leaf.evidence.Has(Sign::kWantsGradient);
    const bool computed = leaf.evidence.phase == Phase::kForward && !leaf.evidence.Has(Sign::kGathered);
    if (!wants || computed || shared_->blocks.IsLive(leaf.gradient)) continue;
    if (shared_->graph.CountUsers(block) > 1) leaf.summed_pass = shared_->passes.begun;
    if (leaf.summed_pass != shared_->passes.begun) newest.owed.push_back({leaf.bytes, block});
  }
  for (const BlockRef& block : ran.given) {
    if (newest.owed.empty() || !shared_->blocks.IsLive(block)) continue;
    const WatchedBlock& other = shared_->blocks.At(block.slot);
    if (other.evidence.IsParameter() || other.evidence.Has(Sign::kWantsGradient)) continue;
    for (ExpectedGradient& owed : newest.owed) {
      if (owed.bytes == other.bytes) owed.other = block;
    }
  }
}

// Ends a backward pass, because forward or the optimizer continues. A block that the pass released is now live only if
// the program holds the block, or if the graph was retained (retain_graph=True). Blocks that the program has read do
// not count, because the program may hold them. If most of the other blocks are live, the graph was retained.
void BackwardEvidence::EndPass() {
  if (!shared_->passes.open) return;
  shared_->passes.open = false;
  ++shared_->passes.ended;
  std::uint64_t not_read = 0;
  std::vector<WatchedBlock*> kept;
  for (const BlockRef& block : let_go_) {
    WatchedBlock& watched = shared_->blocks.At(block.slot);
    const bool lives = watched.ordinal == block.ordinal;
    if (lives && watched.evidence.Has(Sign::kReadByProgram)) continue;
    ++not_read;
    if (lives && watched.evidence.Has(Sign::kReadInBackward)) kept.push_back(&watched);
  }
  if (2 * kept.size() > not_read) {
    for (WatchedBlock* watched : kept) watched->evidence.Note(Sign::kRetained);
  }
  let_go_.clear();
}

// Returns true if the block is as large as a leaf whose gradient the running node computes. The forward operator may
// have received another block of this size, such as the other factor of a product. In this case the gradient of the
// leaf is computed from the other block, so returns true only if the running operator received the other block and did
// not receive the leaf.
bool BackwardEvidence::IsExpectedGradient(const WatchedBlock& watched, absl::Span<const std::uint64_t> given) {
  const NewestNode& newest = threads_.Of(watched.thread);
  if (watched.node.call == 0 || watched.node.call != newest.node.call) return false;
  const auto is_given = [&](const BlockRef& block) { return std::ranges::find(given, block.ordinal) != given.end(); };
  return std::ranges::any_of(newest.owed, [&](const ExpectedGradient& owed) {
    if (owed.bytes != watched.bytes) return false;
    return owed.other.ordinal == kNoOrdinal || (is_given(owed.other) && !is_given(owed.leaf));
  });
}

void BackwardEvidence::EndProcess() {
  threads_.clear();
  let_go_.clear();
}

}  // namespace memoir
