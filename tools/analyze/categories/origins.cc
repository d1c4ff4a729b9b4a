// The part of the evidence that a block's beginning gives: what ran.
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
    watched.module_call = facts.module_calls.empty() ? 0 : facts.module_calls.back();
    if (facts.model_call != 0) watched.model = facts.model;
    watched.inner = facts.model_call != 0 && block.module != facts.model;
  }
  watched.evidence.phase = block.phase;
  watched.evidence.compiled = block.in_compiled_region;
  watched.evidence.in_snapshot = event.before && of_snapshot_;
  watched.evidence.found = block.origin == BlockOrigin::kFound;
  watched.evidence.unseen = block.unseen;
  if (!event.before) (block.unseen ? unseen_bytes_ : seen_bytes_) += static_cast<double>(block.bytes);
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
  if (block.phase == Phase::kBackward && IsOwed(facts, watched)) evidence.Note(Sign::kToLeaf);
  if (innermost.outermost_operator >= 0) {
    evidence.Note(Sign::kInOperator);
    if (facts.derived) evidence.Note(Sign::kDerived);
    watched.filled = facts.fills;
    watched.blank = watched.operation.call == innermost.call && marks_.Of(innermost.name, state_->dictionary()).empties;
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

// Of two gradients of one size: that of a factor is computed from the other factor, and not from itself.
bool EvidencePass::IsOwed(const ThreadFacts& facts, const Watched& watched) const {
  if (watched.node.call == 0 || watched.node.call != facts.node.call) return false;
  const auto given = [&](const BlockRef& block) {
    return std::ranges::find(facts.given, block.ordinal) != facts.given.end();
  };
  return std::ranges::any_of(facts.owed, [&](const Owed& owed) {
    if (owed.bytes != watched.bytes) return false;
    return owed.other.ordinal == kNoOrdinal || (given(owed.other) && !given(owed.leaf));
  });
}

}  // namespace memoir
