// What a block is where a recording ends early: at its end, where memory ran out, where less is recorded from then on.
// The block lives, and what it is good for has not shown yet. Autograd keeps it if a node may that has not run; beyond
// that, what became of blocks of the same place before tells what it would have become.
#include <algorithm>

#include "tools/analyze/categories/evidence_pass.h"
#include "tools/analyze/driver/refusal.h"

namespace memoir {
namespace {

// What is seen, not concluded, or known to the end already.
bool IsCertain(const Rule& rule) {
  switch (rule.keeper) {
    case Keeper::kHolder:
    case Keeper::kGradient:
    case Keeper::kOptimizer:
    case Keeper::kRanks:
    case Keeper::kUnusedGraph:
      return true;
    default:
      return rule.name == "loaded_input" || rule.name == "saved_for_backward" || rule.name == "moved_parameter" ||
             rule.name == "workspace";
  }
}

}  // namespace

void EvidencePass::OnDriverRefused(const DriverRefusedEvent& event) {
  if (IsOutOfMemory(*state_, event)) JudgeLive();
}

// A program that goes on after running out of memory may do so again and again.
void EvidencePass::JudgeLive() {
  constexpr std::uint64_t kMostJudged = std::uint64_t{1} << 26;
  if (ranges_ == ranges_at_cut_ || judged_at_cuts_ > kMostJudged) return;
  ranges_at_cut_ = ranges_;
  CountUnsureNodes(false);
  state_->ForEachLiveBlock([&](const Block& block) {
    Watched& watched = WatchedOf(block);
    if (watched.ordinal != block.ordinal) return;
    watched.at_cut = JudgeAtCut(watched, block.slot);
    ++judged_at_cuts_;
  });
  CountUnsureNodes(true);
}

void EvidencePass::ForEachLive(const std::function<void(const Block&, RuleNumber)>& function) {
  CountUnsureNodes(false);
  state_->ForEachLiveBlock([&](const Block& block) {
    const Watched& watched = WatchedOf(block);
    const bool known = watched.ordinal == block.ordinal;
    function(block, known ? JudgeAtCut(watched, block.slot).rule : static_cast<RuleNumber>(Rules().size() - 1));
  });
  CountUnsureNodes(true);
}

// Whether a thread's last operator has made a node shows with the next, if it does not with what it was given. While it
// runs it may.
void EvidencePass::CountUnsureNodes(bool counts) {
  for (std::uint32_t thread = 0; thread < threads_.size(); ++thread) {
    const ThreadFacts& facts = threads_[thread];
    if (facts.newest != GraphBook::kNoStep && !facts.newest_is_sure && !IsOpen(ThreadId{thread}, facts.newest_operator))
      graph_.Count(facts.newest, counts);
  }
}

bool EvidencePass::MayStillBeGiven(const Watched& watched) const {
  const auto is = [&](const BlockRef& block) { return block.ordinal == watched.ordinal; };
  return std::ranges::any_of(threads_, [&](const ThreadFacts& facts) {
    return std::ranges::any_of(facts.numbered,
                               [&](const Numbered& open) { return std::ranges::any_of(open.given, is); });
  });
}

// What is being made is taken for a result of what makes it.
Judgement EvidencePass::JudgeAtCut(const Watched& watched, std::uint32_t slot) const {
  Evidence evidence = watched.evidence;
  evidence.trains = trains_;
  for (const Sign sign : {Sign::kLeftLive, Sign::kOutlivedOperator}) evidence.Note(sign);
  // What the node has used itself since it made it was mostly made for that.
  if (!IsOpen(watched.thread, watched.node) || !evidence.Has(Sign::kReadByItsNode)) evidence.Note(Sign::kOutlivedNode);
  if (IsOpen(watched.thread, watched.operation)) evidence.Note(Sign::kTensor);
  if (!IsOpen(watched.thread, watched.step) || watched.filled) evidence.Note(Sign::kOutlivedStep);
  if (watched.model_call != 0 && watched.thread.valid() &&
      threads_[watched.thread.value].model_call != watched.model_call)
    evidence.Note(Sign::kOutlivedModel);
  if (graph_.Keepers({slot, watched.ordinal}) != 0 || MayStillBeGiven(watched)) evidence.Note(Sign::kPending);
  if (passes_ended_ > watched.passes_before) evidence.Note(Sign::kPassedOver);
  if (moved_.contains(watched.ordinal)) evidence.Note(Sign::kMovedParameter);
  if (CopiesParameter(watched)) evidence.Note(Sign::kCopiesParameter);
  // No graph keeps it, and nobody outside of the model that made it and has read it has seen it: it is no result.
  const bool kept_inside = watched.inner && watched.read_call == 0 && !evidence.Has(Sign::kGradMode) &&
                           evidence.Has(Sign::kReadOutside) && !evidence.Has(Sign::kReadByProgram);
  if (evidence.Has(Sign::kOutlivedModel) && (kept_inside || WasCarried(watched.place))) evidence.Note(Sign::kCarried);
  // Likewise of a module in a model that still runs: what it gives back is read by what called it.
  const bool inside_runs = watched.thread.valid() && !evidence.Has(Sign::kOutlivedModel) && watched.module_call != 0 &&
                           !IsCalled(threads_[watched.thread.value], watched);
  if (kept_inside && inside_runs && !evidence.Has(Sign::kReadAfterCall)) evidence.Note(Sign::kCarried);
  if (!pass_open_ || passes_begun_ != watched.passes_before) evidence.Drop(Sign::kToLeaf);
  if (stepped_) evidence.Drop(Sign::kLikeLeaf);
  const RuleNumber rule = RuleFor(evidence);
  return IsCertain(Rules()[rule]) ? Judgement{rule, false} : AsBefore(watched, rule);
}

// A gradient that is still there has been accumulated into since: the next is added to it, and gone.
Judgement EvidencePass::AsBefore(const Watched& watched, RuleNumber rule) const {
  const PlaceBook::Became* before = places_.Find(watched.place);
  if (before == nullptr || Rules()[before->rule].kept == Rules()[rule].kept) return {rule, false};
  const bool gradient = Rules()[before->rule].keeper == Keeper::kGradient;
  if (gradient && before->ordinal != watched.ordinal && Lives({before->slot, before->ordinal})) return {rule, false};
  const BlockRef leaf{before->leaf_slot, before->leaf};
  if (gradient && Lives(leaf) && Lives(watched_[leaf.slot].gradient)) return {rule, false};
  return {before->rule, true};
}

void EvidencePass::OnProcessEnd(const ProcessEvent&) {
  JudgeLive();
  state_->ForEachLiveBlock([&](const Block& block) {
    Watched& watched = WatchedOf(block);
    if (watched.at_cut.rule == kNotJudged) watched.at_cut = JudgeAtCut(watched, block.slot);
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
  pass_open_ = false;
  passes_begun_ = passes_ended_ = 0;
  let_go_.clear();
  ranges_at_cut_ = ~std::uint64_t{0};
  judged_at_cuts_ = 0;
  trains_ = stepped_ = false;
}

}  // namespace memoir
