// Evidence from the allocation of a block: the ranges and modules that were running.
#include <algorithm>

#include "tools/analyze/categories/evidence/evidence_pass.h"

namespace memoir {

void EvidencePass::OnAllocate(const AllocateEvent& event) {
  const Block& block = *event.block;
  WatchedBlock& watched = WatchedOf(block);
  watched = WatchedBlock();
  watched.ordinal = block.ordinal;
  watched.thread = block.thread.valid() ? state_->working_thread(block.thread) : block.thread;
  watched.bytes = block.bytes;
  watched.passes_before = passes_begun_;
  watched.calls_before = model_calls_;
  watched.module_calls_before = module_calls_;
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

void EvidencePass::NoteOrigin(const AllocateEvent& event, WatchedBlock& watched) {
  const RangeStack& stack = *event.stack;
  Evidence& evidence = watched.evidence;
  const OpenRange& innermost = stack.back();
  watched.operation = RangeAt(stack, innermost.outermost_operator);
  watched.node = RangeAt(stack, innermost.innermost_backward);
  watched.step = RangeAt(stack, innermost.innermost_optimizer);
  if (innermost.role.tuning) evidence.Note(Sign::kTuning);
  const Block& block = *event.block;
  watched.place = places_.NextPlace(watched.thread, block.operator_name, block.leaf_name, block.phase);
  const ThreadFacts& facts = FactsOf(watched.thread);
  if (block.phase == Phase::kBackward && IsOwed(facts, watched)) evidence.Note(Sign::kToLeaf);
  if (innermost.outermost_operator >= 0) {
    evidence.Note(Sign::kInOperator);
    if (facts.derived) evidence.Note(Sign::kDerived);
    watched.filled = facts.fills;
    watched.blank =
        watched.operation.call == innermost.call && traits_.FindTraits(innermost.name, state_->dictionary()).empties;
    if (facts.like_leaf) evidence.Note(Sign::kLikeLeaf);
    if (watched.blank && block.phase == Phase::kOther && IsOfGenerator(block)) evidence.Note(Sign::kOfGenerator);
  }
  if (IsOpen(watched.thread, facts.copy)) {
    watched.copied_from = facts.copy_of;
    watched.copied_slot = facts.copy_slot;
    if (facts.copies_parameter) evidence.Note(Sign::kCastParameter);
  }
  if (innermost.user_name.valid() && traits_.FindTraits(innermost.user_name, state_->dictionary()).loader)
    evidence.Note(Sign::kLoaded);
  NoteMaker(stack, watched.thread, watched, block.slot);
}

// Returns true for the seed or the offset of a random generator, each of which is one number. CUDAGraph.capture_begin
// allocates only these two before the capture.
bool EvidencePass::IsOfGenerator(const Block& block) const {
  constexpr std::uint64_t kMost = 512;  // bytes of the block that torch's allocator returns for one number
  const Dictionary& dictionary = state_->dictionary();
  const StackId stack = dictionary.PythonPart(block.callstack);
  if (block.bytes > kMost || !stack.valid()) return false;
  const Code& code = dictionary.code(dictionary.stack(stack).frame.code);
  return code.function.ends_with("CUDAGraph.capture_begin") && code.file.ends_with("torch/cuda/graphs.py");
}

// Returns true if the block is as large as a leaf whose gradient the running node computes. The forward operator may
// have received another block of this size, such as the other factor of a product. The gradient of the leaf is then
// computed from the other block. So if there is such a block, returns true only if the running operator received it and
// did not receive the leaf.
bool EvidencePass::IsOwed(const ThreadFacts& facts, const WatchedBlock& watched) const {
  if (watched.node.call == 0 || watched.node.call != facts.node.call) return false;
  const auto given = [&](const BlockRef& block) {
    return std::ranges::find(facts.given, block.ordinal) != facts.given.end();
  };
  return std::ranges::any_of(facts.owed, [&](const OwedGradient& owed) {
    if (owed.bytes != watched.bytes) return false;
    return owed.other.ordinal == kNoOrdinal || (given(owed.other) && !given(owed.leaf));
  });
}

// Returns true if the block has lived through several steps. A variable may hold a result until the next step replaces
// the result, and a step may call the model several times, so one pass or call is not enough.
bool EvidencePass::IsKeptForSteps(const WatchedBlock& watched) const {
  constexpr std::uint64_t kPasses = 3, kCalls = 8;
  return passes_begun_ >= watched.passes_before + kPasses || model_calls_ >= watched.calls_before + kCalls;
}

bool EvidencePass::IsCalled(const ThreadFacts& facts, const WatchedBlock& watched) {
  return std::ranges::find(facts.module_calls, watched.module_call) != facts.module_calls.end();
}

}  // namespace memoir
