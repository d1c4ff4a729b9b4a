#include "tools/analyze/categories/evidence/live_block_judge.h"

#include "tools/analyze/categories/allocation_places.h"
#include "tools/analyze/categories/autograd_graph_book.h"
#include "tools/analyze/categories/evidence.h"
#include "tools/analyze/categories/evidence/state/watched_blocks.h"

namespace memoir {
namespace {

// Returns true if the evidence of the rule is certain: it was recorded, or it cannot change any more.
bool IsCertain(const Rule& rule) {
  switch (rule.holder) {
    case HolderKind::kHolder:
    case HolderKind::kGradient:
    case HolderKind::kOptimizer:
    case HolderKind::kRanks:
    case HolderKind::kUnusedGraph:
      return true;
    default:
      return rule.name == "loaded_input" || rule.name == "saved_for_backward" || rule.name == "moved_parameter" ||
             rule.name == "state_of_generator" || rule.name == "workspace";
  }
}

}  // namespace

// The number of judged blocks is bounded, because a program that handles out-of-memory errors may have many such
// errors.
void LiveBlockJudge::JudgeLive() {
  constexpr std::uint64_t kMostJudged = std::uint64_t{1} << 26;
  if (ranges_ == ranges_at_early_end_ || judged_at_early_ends_ > kMostJudged) return;
  ranges_at_early_end_ = ranges_;
  graph_->CountUnsureNodes(false);
  shared_->replay->ForEachLiveBlock([&](const Block& block) {
    WatchedBlock& watched = shared_->blocks.Of(block);
    if (watched.ordinal != block.ordinal) return;
    watched.live_judgement = JudgeLiveBlock(watched, block.slot);
    ++judged_at_early_ends_;
  });
  graph_->CountUnsureNodes(true);
}

void LiveBlockJudge::ForEachLive(const std::function<void(const Block&, RuleNumber)>& function) {
  graph_->CountUnsureNodes(false);
  shared_->replay->ForEachLiveBlock([&](const Block& block) {
    const WatchedBlock& watched = shared_->blocks.Of(block);
    const bool known = watched.ordinal == block.ordinal;
    function(block, known ? JudgeLiveBlock(watched, block.slot).rule : static_cast<RuleNumber>(Rules().size() - 1));
  });
  graph_->CountUnsureNodes(true);
}

// A block whose operator still runs counts as a result of this operator.
Judgement LiveBlockJudge::JudgeLiveBlock(const WatchedBlock& watched, std::uint32_t slot) const {
  SharedEvidence& shared = *shared_;
  Evidence evidence = watched.evidence;
  evidence.trains = shared.trains;
  for (const Sign sign : {Sign::kLeftLive, Sign::kOutlivedOperator}) evidence.Note(sign);
  // If the autograd node that made a block has read the block, the block usually serves only the work of that node.
  if (!shared.IsOpen(watched.thread, watched.node) || !evidence.Has(Sign::kReadByItsNode))
    evidence.Note(Sign::kOutlivedNode);
  if (shared.IsOpen(watched.thread, watched.operation)) evidence.Note(Sign::kTensor);
  if (!shared.IsOpen(watched.thread, watched.step) || watched.filled) evidence.Note(Sign::kOutlivedStep);
  if (watched.model_call != 0 && watched.thread.valid() &&
      shared.module_calls.OpenIn(watched.thread).model_call != watched.model_call)
    evidence.Note(Sign::kOutlivedModel);
  if (shared.IsPending(watched, slot) || graph_->MayStillBeGiven(watched)) evidence.Note(Sign::kPending);
  if (shared.passes.ended > watched.passes_before) evidence.Note(Sign::kPassedOver);
  if (copies_->WasMoved(watched)) evidence.Note(Sign::kMovedParameter);
  if (copies_->CopiesParameter(watched)) evidence.Note(Sign::kCopiesParameter);
  // `kept_inside`: no graph keeps the block, and only the model that made the block has read it. Such a block is not a
  // result of the model.
  const bool kept_inside = watched.inner && watched.read_call == 0 && !evidence.Has(Sign::kGradMode) &&
                           evidence.Has(Sign::kReadOutside) && !evidence.Has(Sign::kReadByProgram);
  if (evidence.Has(Sign::kOutlivedModel) && (kept_inside || shared.WasCarried(watched.place)))
    evidence.Note(Sign::kCarried);
  // The block is also carried if the model still runs, but the inner module that made the block has returned. If the
  // block were a result of the inner module, the calling module would have read it.
  const bool inside_runs = watched.thread.valid() && !evidence.Has(Sign::kOutlivedModel) && watched.module_call != 0 &&
                           !shared.module_calls.OpenIn(watched.thread).Contains(watched.module_call);
  if (kept_inside && inside_runs && !evidence.Has(Sign::kReadAfterCall)) evidence.Note(Sign::kCarried);
  if (shared.IsKeptForSteps(watched)) evidence.Note(Sign::kKeptForSteps);
  if (!shared.passes.open || shared.passes.begun != watched.passes_before) evidence.Drop(Sign::kToLeaf);
  if (holders_->stepped()) evidence.Drop(Sign::kLikeLeaf);
  const RuleNumber rule = RuleFor(evidence);
  return IsCertain(Rules()[rule]) ? Judgement{rule, false} : AsBefore(watched, rule);
}

// Returns the rule of the newest judged block of the same place. Returns `rule` if there is no such block. Also returns
// `rule` for a gradient whose leaf already has a live gradient: autograd adds the new gradient to the old gradient and
// frees the new gradient, so the new gradient does not become .grad.
Judgement LiveBlockJudge::AsBefore(const WatchedBlock& watched, RuleNumber rule) const {
  const AllocationPlaces::Outcome* before = shared_->places.Find(watched.place);
  if (before == nullptr || Rules()[before->rule].kept == Rules()[rule].kept) return {rule, false};
  const WatchedBlocks& blocks = shared_->blocks;
  const bool gradient = Rules()[before->rule].holder == HolderKind::kGradient;
  if (gradient && before->ordinal != watched.ordinal && blocks.IsLive({before->slot, before->ordinal}))
    return {rule, false};
  const AutogradGraphBook::BlockRef leaf{before->leaf_slot, before->leaf};
  if (gradient && blocks.IsLive(leaf) && blocks.IsLive(blocks.At(leaf.slot).gradient)) return {rule, false};
  return {before->rule, true};
}

void LiveBlockJudge::JudgeLeft(WatchedBlock& watched, std::uint32_t slot) const {
  if (watched.live_judgement.rule == kNotJudged) watched.live_judgement = JudgeLiveBlock(watched, slot);
}

void LiveBlockJudge::EndProcess() {
  ranges_at_early_end_ = ~std::uint64_t{0};
  judged_at_early_ends_ = 0;
}

}  // namespace memoir
