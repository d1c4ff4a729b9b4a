// Judges the live blocks at an early end: at the end of the recording, at an out-of-memory error, or at a switch to a
// lower level. Later uses of these blocks are not recorded. If a node that has not run may have saved a block, autograd
// is the holder. Otherwise the block is judged like earlier blocks of its place.
#include <algorithm>

#include "tools/analyze/categories/evidence/evidence_pass.h"
#include "tools/analyze/driver/refusal.h"

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

void EvidencePass::OnDriverRefused(const DriverRefusedEvent& event) {
  if (IsOutOfMemory(*state_, event)) JudgeLive();
}

// The number of judged blocks is bounded, because a program that handles out-of-memory errors may have many such
// errors.
void EvidencePass::JudgeLive() {
  constexpr std::uint64_t kMostJudged = std::uint64_t{1} << 26;
  if (ranges_ == ranges_at_early_end_ || judged_at_early_ends_ > kMostJudged) return;
  ranges_at_early_end_ = ranges_;
  CountUnsureNodes(false);
  state_->ForEachLiveBlock([&](const Block& block) {
    WatchedBlock& watched = WatchedOf(block);
    if (watched.ordinal != block.ordinal) return;
    watched.live_judgement = JudgeLiveBlock(watched, block.slot);
    ++judged_at_early_ends_;
  });
  CountUnsureNodes(true);
}

void EvidencePass::ForEachLive(const std::function<void(const Block&, RuleNumber)>& function) {
  CountUnsureNodes(false);
  state_->ForEachLiveBlock([&](const Block& block) {
    const WatchedBlock& watched = WatchedOf(block);
    const bool known = watched.ordinal == block.ordinal;
    function(block, known ? JudgeLiveBlock(watched, block.slot).rule : static_cast<RuleNumber>(Rules().size() - 1));
  });
  CountUnsureNodes(true);
}

// Sets whether unsure nodes count. Only the next operator of a thread shows whether the newest operator made a node, so
// the node of the newest operator is unsure. If the operator's arguments already prove that it makes a node, the node
// is sure. The node of a running operator always counts, because the operator may still make it.
void EvidencePass::CountUnsureNodes(bool counts) {
  for (std::uint32_t thread = 0; thread < threads_.size(); ++thread) {
    const ThreadFacts& facts = threads_[thread];
    if (facts.newest != AutogradGraphBook::kNoStep && !facts.newest_is_sure &&
        !IsOpen(ThreadId{thread}, facts.newest_operator))
      graph_.SetCounts(facts.newest, counts);
  }
}

bool EvidencePass::MayStillBeGiven(const WatchedBlock& watched) const {
  const auto is = [&](const BlockRef& block) { return block.ordinal == watched.ordinal; };
  return std::ranges::any_of(threads_, [&](const ThreadFacts& facts) {
    return std::ranges::any_of(facts.numbered,
                               [&](const NumberedOperator& open) { return std::ranges::any_of(open.given, is); });
  });
}

// A block whose operator still runs counts as a result of this operator.
Judgement EvidencePass::JudgeLiveBlock(const WatchedBlock& watched, std::uint32_t slot) const {
  Evidence evidence = watched.evidence;
  evidence.trains = trains_;
  for (const Sign sign : {Sign::kLeftLive, Sign::kOutlivedOperator}) evidence.Note(sign);
  // If the autograd node that made a block has read the block, the block usually serves only the work of that node.
  if (!IsOpen(watched.thread, watched.node) || !evidence.Has(Sign::kReadByItsNode)) evidence.Note(Sign::kOutlivedNode);
  if (IsOpen(watched.thread, watched.operation)) evidence.Note(Sign::kTensor);
  if (!IsOpen(watched.thread, watched.step) || watched.filled) evidence.Note(Sign::kOutlivedStep);
  if (watched.model_call != 0 && watched.thread.valid() &&
      threads_[watched.thread.value].model_call != watched.model_call)
    evidence.Note(Sign::kOutlivedModel);
  if (graph_.CountHolders({slot, watched.ordinal}) != 0 || MayStillBeGiven(watched)) evidence.Note(Sign::kPending);
  if (passes_ended_ > watched.passes_before) evidence.Note(Sign::kPassedOver);
  if (moved_.contains(watched.ordinal)) evidence.Note(Sign::kMovedParameter);
  if (CopiesParameter(watched)) evidence.Note(Sign::kCopiesParameter);
  // No graph keeps the block, and only the model that made the block has read it, so the block is not a result of the
  // model.
  const bool kept_inside = watched.inner && watched.read_call == 0 && !evidence.Has(Sign::kGradMode) &&
                           evidence.Has(Sign::kReadOutside) && !evidence.Has(Sign::kReadByProgram);
  if (evidence.Has(Sign::kOutlivedModel) && (kept_inside || WasCarried(watched.place))) evidence.Note(Sign::kCarried);
  // The same applies while the model still runs, if the inner module that made the block has returned. If the block
  // were a result of the inner module, the calling module would have read it.
  const bool inside_runs = watched.thread.valid() && !evidence.Has(Sign::kOutlivedModel) && watched.module_call != 0 &&
                           !IsCalled(threads_[watched.thread.value], watched);
  if (kept_inside && inside_runs && !evidence.Has(Sign::kReadAfterCall)) evidence.Note(Sign::kCarried);
  if (IsKeptForSteps(watched)) evidence.Note(Sign::kKeptForSteps);
  if (!pass_open_ || passes_begun_ != watched.passes_before) evidence.Drop(Sign::kToLeaf);
  if (stepped_) evidence.Drop(Sign::kLikeLeaf);
  const RuleNumber rule = RuleFor(evidence);
  return IsCertain(Rules()[rule]) ? Judgement{rule, false} : AsBefore(watched, rule);
}

// Returns the rule of the newest judged block of the same place. Returns `rule` if there is no such block. Also returns
// `rule` for a gradient whose leaf already has a live gradient: autograd adds the new gradient to the old one and frees
// the new one, so the new one does not become .grad.
Judgement EvidencePass::AsBefore(const WatchedBlock& watched, RuleNumber rule) const {
  const AllocationPlaces::Outcome* before = places_.Find(watched.place);
  if (before == nullptr || Rules()[before->rule].kept == Rules()[rule].kept) return {rule, false};
  const bool gradient = Rules()[before->rule].holder == HolderKind::kGradient;
  if (gradient && before->ordinal != watched.ordinal && IsLive({before->slot, before->ordinal})) return {rule, false};
  const BlockRef leaf{before->leaf_slot, before->leaf};
  if (gradient && IsLive(leaf) && IsLive(watched_[leaf.slot].gradient)) return {rule, false};
  return {before->rule, true};
}

void EvidencePass::OnProcessEnd(const ProcessEvent& event) {
  JudgeLive();
  state_->ForEachLiveBlock([&](const Block& block) {
    WatchedBlock& watched = WatchedOf(block);
    if (watched.live_judgement.rule == kNotJudged) watched.live_judgement = JudgeLiveBlock(watched, block.slot);
    NoteEnd(block, watched);
  });
  watched_.clear();
  threads_.clear();
  graph_.Clear();
  wants_.Clear();
  leaf_elements_.clear();
  places_.EndProcess();
  moved_.clear();
  book_.EndProcess(state_->dictionary());
  FindSecondCopies(event.process);
  pass_open_ = false;
  passes_begun_ = passes_ended_ = model_calls_ = 0;
  let_go_.clear();
  ranges_at_early_end_ = ~std::uint64_t{0};
  judged_at_early_ends_ = 0;
  trains_ = stepped_ = false;
}

}  // namespace memoir
