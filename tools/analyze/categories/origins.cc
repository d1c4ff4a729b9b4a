// The part of the evidence that a block's beginning gives: what ran, and what it is a copy of.
#include <algorithm>

#include "tools/analyze/categories/evidence_pass.h"

namespace memoir {

void EvidencePass::OnAllocate(const AllocateEvent& event) {
  const Block& block = *event.block;
  Watched& watched = WatchedOf(block);
  watched = Watched();
  watched.ordinal = block.ordinal;
  watched.thread = block.thread.valid() ? state_->working_thread(block.thread) : block.thread;
  watched.bytes = block.bytes;
  watched.passes_before = passes_begun_;
  if (watched.thread.valid()) {
    const ThreadFacts& facts = FactsOf(watched.thread);
    watched.model_call = facts.model_call;
    if (facts.model_call != 0) watched.model = facts.model;
    watched.inner = facts.model_call != 0 && block.module != facts.model;
  }
  watched.evidence.phase = block.phase;
  watched.evidence.compiled = block.in_compiled_region;
  watched.evidence.found = block.origin == BlockOrigin::kFound;
  if (!event.before) (level_ == v1::LEVEL_ALL ? seen_bytes_ : unseen_bytes_) += static_cast<double>(block.bytes);
  if (event.stack != nullptr && !event.stack->empty()) NoteOrigin(event, watched);
}

void EvidencePass::NoteOrigin(const AllocateEvent& event, Watched& watched) {
  const RangeStack& stack = *event.stack;
  Evidence& evidence = watched.evidence;
  const OpenRange& innermost = stack.back();
  watched.operation = RangeAt(stack, innermost.outermost_operator);
  watched.node = RangeAt(stack, innermost.innermost_backward);
  watched.step = RangeAt(stack, innermost.innermost_optimizer);
  if (innermost.role.tuning) evidence.Note(Sign::kTuning);
  const Block& block = *event.block;
  watched.place = places_.Next(watched.thread, block.operator_name, block.leaf_name, block.phase);
  const ThreadFacts& facts = FactsOf(watched.thread);
  if (block.phase == Phase::kBackward && watched.node.call != 0 && watched.node.call == facts.node.call &&
      std::ranges::find(facts.owed, block.bytes) != facts.owed.end())
    evidence.Note(Sign::kToLeaf);
  if (innermost.outermost_operator >= 0) {
    evidence.Note(Sign::kInOperator);
    if (facts.derived) evidence.Note(Sign::kDerived);
    watched.filled = facts.fills;
    if (facts.like_leaf) evidence.Note(Sign::kLikeLeaf);
  }
  if (IsOpen(watched.thread, facts.copy)) {
    watched.copied_from = facts.copy_of;
    watched.copied_slot = facts.copy_slot;
    if (facts.copies_parameter) evidence.Note(Sign::kCastParameter);
  }
  if (innermost.user_name.valid() && marks_.Of(innermost.user_name, state_->dictionary()).loader)
    evidence.Note(Sign::kLoaded);
  NoteMaker(stack, watched.thread, watched, block.slot);
}

void EvidencePass::NoteCopy(const RangeBeginEvent& event) {
  ThreadFacts& facts = FactsOf(event.thread);
  const Watched* from = At(event.tensors[0]);
  facts.copy = RangeAt(*event.stack, static_cast<std::int32_t>(event.range->depth));
  facts.copy_of = from == nullptr ? kNoOrdinal : from->ordinal;
  facts.copy_slot = from == nullptr ? 0 : SlotOf(*from);
  facts.copies_parameter = from != nullptr && from->evidence.IsParameter();
}

bool EvidencePass::CopiesParameter(const Watched& copy) const {
  constexpr int kMostCopies = 16;  // of copies
  const Watched* from = &copy;
  for (int i = 0; i < kMostCopies && from->copied_from != kNoOrdinal; ++i) {
    const std::uint64_t ordinal = from->copied_from;
    if (ordinal < rules_.size() && rules_[ordinal] != kNotJudged)
      return Rules()[rules_[ordinal]].kept == KeptAs::kParameter;
    if (from->copied_slot >= watched_.size() || watched_[from->copied_slot].ordinal != ordinal) return false;
    from = &watched_[from->copied_slot];
    if (from->evidence.IsParameter()) return true;
  }
  return false;
}

}  // namespace memoir
