#include "tools/analyze/categories/evidence/origin_evidence.h"

#include <cstdint>

#include "tools/analyze/categories/evidence.h"
#include "tools/analyze/categories/evidence/state/module_calls.h"
#include "tools/model/event/dictionary.h"

namespace memoir {

void OriginEvidence::NoteAllocation(const AllocateEvent& event) {
  const Block& block = *event.block;
  SharedEvidence& shared = *shared_;
  WatchedBlock& watched = shared.blocks.Of(block);
  watched = WatchedBlock();
  watched.ordinal = block.ordinal;
  watched.thread = block.thread.valid() ? shared.replay->working_thread(block.thread) : block.thread;
  watched.bytes = block.bytes;
  watched.passes_before = shared.passes.begun;
  watched.calls_before = shared.module_calls.model_calls();
  watched.module_calls_before = shared.module_calls.module_calls();
  if (watched.thread.valid()) {
    const OpenModuleCalls& open = shared.module_calls.OpenIn(watched.thread);
    watched.model_call = open.model_call;
    watched.module_call = open.innermost();
    if (open.model_call != 0) watched.model = open.model;
    watched.inner = open.model_call != 0 && block.module != open.model;
  }
  watched.evidence.phase = block.phase;
  watched.evidence.compiled = block.in_compiled_region;
  watched.evidence.in_snapshot = event.before && of_snapshot_;
  watched.evidence.found = block.origin == BlockOrigin::kFound;
  watched.evidence.unseen = block.unseen;
  if (event.stack != nullptr && !event.stack->empty()) NoteOrigin(event, watched);
}

void OriginEvidence::NoteOrigin(const AllocateEvent& event, WatchedBlock& watched) {
  const RangeStack& stack = *event.stack;
  Evidence& evidence = watched.evidence;
  const OpenRange& innermost = stack.back();
  watched.operation = RangeAt(stack, innermost.outermost_operator);
  watched.node = RangeAt(stack, innermost.innermost_backward);
  watched.step = RangeAt(stack, innermost.innermost_optimizer);
  if (innermost.role.tuning) evidence.Note(Sign::kTuning);
  const Block& block = *event.block;
  watched.place = shared_->places.NextPlace(watched.thread, block.operator_name, block.leaf_name, block.phase);
  const OutermostOperator& outermost = uses_->OutermostIn(watched.thread);
  if (block.phase == Phase::kBackward && backward_->IsExpectedGradient(watched, outermost.given))
    evidence.Note(Sign::kToLeaf);
  if (innermost.outermost_operator >= 0) {
    evidence.Note(Sign::kInOperator);
    if (outermost.derived) evidence.Note(Sign::kDerived);
    watched.filled = outermost.fills;
    watched.blank = watched.operation.call == innermost.call && shared_->FindTraits(innermost.name).empties;
    if (outermost.like_leaf) evidence.Note(Sign::kLikeLeaf);
    if (watched.blank && block.phase == Phase::kOther && IsOfGenerator(block)) evidence.Note(Sign::kOfGenerator);
  }
  copies_->NoteSource(watched);
  if (innermost.user_name.valid() && shared_->FindTraits(innermost.user_name).loader) evidence.Note(Sign::kLoaded);
  graph_->NoteMaker(stack, watched, block.slot);
}

// Returns true for the seed or the offset of a random generator, each of which is one number. CUDAGraph.capture_begin
// allocates only these two before the capture.
bool OriginEvidence::IsOfGenerator(const Block& block) const {
  constexpr std::uint64_t kMost = 512;  // bytes of the block that torch's allocator returns for one number
  const Dictionary& dictionary = shared_->dictionary();
  const StackId stack = dictionary.PythonPart(block.callstack);
  if (block.bytes > kMost || !stack.valid()) return false;
  const Code& code = dictionary.code(dictionary.stack(stack).frame.code);
  return code.function.ends_with("CUDAGraph.capture_begin") && code.file.ends_with("torch/cuda/graphs.py");
}

}  // namespace memoir
