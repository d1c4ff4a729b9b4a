#include "tools/analyze/categories/evidence/freed_block_judge.h"

#include "tools/analyze/categories/autograd_graph_book.h"
#include "tools/analyze/categories/category.h"
#include "tools/analyze/categories/evidence.h"

namespace memoir {
namespace {

RuleNumber NothingKnown() { return static_cast<RuleNumber>(Rules().size() - 1); }

}  // namespace

void FreedBlockJudge::NoteFree(const DeallocateEvent& event) {
  const Block& block = *event.block;
  WatchedBlock& watched = shared_->blocks.Of(block);
  if (watched.ordinal != block.ordinal) return;
  Evidence& evidence = watched.evidence;
  if (!event.temporary) evidence.Note(Sign::kOutlivedOperator);
  if (event.thread.valid()) {
    const RangeStack& stack = shared_->replay->stack(event.thread);
    if (!stack.empty() && stack.back().innermost_backward >= 0) evidence.Note(Sign::kFreedInBackward);
  }
  NoteEnd(block, watched);
}

void FreedBlockJudge::NoteEnd(const Block& block, WatchedBlock& watched) {
  if (watched.live_judgement.rule != kNotJudged) {
    Judge(block, watched, watched.live_judgement);
  } else {
    SharedEvidence& shared = *shared_;
    Evidence& evidence = watched.evidence;
    evidence.trains = shared.trains;
    if (!shared.IsOpen(watched.thread, watched.node)) evidence.Note(Sign::kOutlivedNode);
    if (!shared.IsOpen(watched.thread, watched.step)) evidence.Note(Sign::kOutlivedStep);
    if (watched.model_call != 0 && watched.thread.valid() &&
        shared.module_calls.OpenIn(watched.thread).model_call != watched.model_call)
      evidence.Note(Sign::kOutlivedModel);
    if (shared.graph.CountHolders({block.slot, block.ordinal}) != 0) evidence.Note(Sign::kPending);
    if (copies_->WasMoved(watched)) evidence.Note(Sign::kMovedParameter);
    if (copies_->CopiesParameter(watched)) evidence.Note(Sign::kCopiesParameter);
    if (evidence.phase == Phase::kForward && evidence.Has(Sign::kOutlivedModel) && shared.WasCarried(watched.place))
      evidence.Note(Sign::kCarried);
    if (shared.IsKeptForSteps(watched)) evidence.Note(Sign::kKeptForSteps);
    const RuleNumber rule = RuleFor(evidence);
    shared.places.Note(watched.place,
                       {rule, block.slot, block.ordinal, watched.gradient_of.slot, watched.gradient_of.ordinal});
    Judge(block, watched, {rule, false});
    if (watched.computed_by != AutogradGraphBook::kNoStep) graph_->LeaveComputed(watched, block.slot);
  }
  const bool is_input = Rules()[shared_->rules.RuleOf(watched.ordinal)].kept == Category::kInput;
  if (is_input && !forgets_) copies_->NoteInput(block, watched);
  copies_->EndBlock(watched);
  watched.ordinal = kNoOrdinal;
}

void FreedBlockJudge::Judge(const Block& block, WatchedBlock& watched, Judgement judgement) {
  shared_->rules.Set(watched.ordinal, judgement.rule);
  holders_->EndBlock(watched);
  if (forgets_) return;
  if (judgement.expected) expected_.Set(watched.ordinal, true);
  if (watched.evidence.parameter != kNoParameter) owners_.Set(watched.ordinal, watched.evidence.parameter);
  if (!judgement.expected && IsOfLibrary(judgement.rule) && shared_->replay->memory(block.device).caching())
    workspaces_.insert(watched.ordinal);
}

RuleNumber FreedBlockJudge::RuleOfEnded(std::uint64_t ordinal) const {
  const RuleNumber rule = shared_->rules.RuleOf(ordinal);
  return rule == kNotJudged ? NothingKnown() : rule;
}

void FreedBlockJudge::Forget(std::uint64_t next) {
  forgets_ = true;
  shared_->rules.Forget(next);
}

}  // namespace memoir
