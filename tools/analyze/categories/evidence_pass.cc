#include "tools/analyze/categories/evidence_pass.h"

#include <algorithm>

namespace memoir {
namespace {

constexpr Sign kOfModels[] = {
    Sign::kModuleParameter, Sign::kOptimizedParameter, Sign::kLeaf,           Sign::kWantsGradient,
    Sign::kModuleBuffer,    Sign::kParameterGradient,  Sign::kOptimizerState, Sign::kDerived};

RuleNumber NothingKnown() { return static_cast<RuleNumber>(Rules().size() - 1); }

// Whether what is computed from it says something about the model.
bool Derives(const Evidence& evidence) {
  return evidence.phase != Phase::kOther ||
         std::ranges::any_of(kOfModels, [&](Sign sign) { return evidence.Has(sign); });
}

}  // namespace

OpenAt EvidencePass::RangeAt(const RangeStack& stack, std::int32_t depth) {
  if (depth < 0 || static_cast<std::size_t>(depth) >= stack.size()) return {};
  return {depth, stack[static_cast<std::size_t>(depth)].call};
}

bool EvidencePass::IsOpen(ThreadId thread, const OpenAt& range) const {
  if (range.depth < 0 || !thread.valid()) return false;
  const RangeStack& stack = state_->stack(thread);
  const auto depth = static_cast<std::size_t>(range.depth);
  return depth < stack.size() && stack[depth].call == range.call;
}

Watched& EvidencePass::WatchedOf(const Block& block) {
  if (block.slot == Block::kNoSlot) return late_;
  if (block.slot >= watched_.size()) watched_.resize(block.slot + 1);
  return watched_[block.slot];
}

Watched* EvidencePass::At(const Tensor& tensor) {
  if (tensor.storage == 0) return nullptr;
  const Block* block = state_->LiveBlockAt(tensor.device, tensor.storage);
  return block == nullptr ? nullptr : &WatchedOf(*block);
}

ThreadFacts& EvidencePass::FactsOf(ThreadId thread) {
  if (thread.value >= threads_.size()) threads_.resize(thread.value + 1);
  return threads_[thread.value];
}

void EvidencePass::OnRangeBegin(const RangeBeginEvent& event) {
  const OpenRange& range = *event.range;
  ++ranges_;
  if (range.source == RangeSource::kBackward) {
    places_.EnterRange(event.thread, range.depth, range.name, NoteNode(event));
  } else if (range.innermost_backward < 0 && (range.sequence >= 0 || range.role.optimizer)) {
    EndPass();
    if (range.role.optimizer) places_.EnterRange(event.thread, range.depth, range.name);
  }
  NoteArguments(event);
  NoteGiven(event);
  if (event.tensors.empty()) return;
  const RangeMarks marks = marks_.Of(range.name, state_->dictionary());
  if (marks.copies) NoteCopy(event);
  if (marks.copies_over) NoteCopyOver(event);
  if (marks.cuts) NoteCut(event);
  if (marks.reduces || marks.gathers || marks.scatters) NoteCollective(event, marks);
  if (marks.copies_in || marks.copies_out || marks.chunks) NoteSharding(event, marks);
}

void EvidencePass::NoteArguments(const RangeBeginEvent& event) {
  const OpenRange& range = *event.range;
  ThreadFacts& facts = FactsOf(event.thread);
  const bool outermost = range.is_operator && range.outermost_operator == static_cast<std::int32_t>(range.depth);
  if (outermost) facts.given.clear();
  bool derived = false;
  for (const Tensor& tensor : event.tensors) {
    Watched* watched = At(tensor);
    if (watched == nullptr) continue;
    NoteUse(event, facts, *watched);
    if (outermost && range.innermost_backward >= 0) facts.given.push_back(watched->ordinal);
    if (tensor.wants_gradient) NoteLeaf(tensor, *watched);
    derived = derived || Derives(watched->evidence);
  }
  if (!outermost) return;
  facts.derived = derived;
  const RangeMarks marks = marks_.Of(range.name, state_->dictionary());
  facts.fills = marks.fills;
  Watched* first = event.tensors.empty() ? nullptr : At(event.tensors[0]);
  const bool leaf = first != nullptr && event.tensors[0].wants_gradient;
  facts.like_leaf = leaf && marks.fills && !marks.copies;
  if (leaf && marks.initialises) first->evidence.Note(Sign::kInitialised);
  // Written by a module's call, memory of the program's is that call's.
  if (first != nullptr && marks.writes && range.phase == Phase::kForward && first->evidence.phase == Phase::kOther) {
    first->model_call = facts.model_call;
    first->model = facts.model;
  }
}

void EvidencePass::NoteUse(const RangeBeginEvent& event, const ThreadFacts& facts, Watched& watched) {
  const OpenRange& range = *event.range;
  watched.at_cut = {};
  Evidence& evidence = watched.evidence;
  evidence.Note(Sign::kTensor);
  if (range.source == RangeSource::kBackward) return evidence.Note(Sign::kNodeArgument);
  const RangeMarks marks = marks_.Of(range.name, state_->dictionary());
  const bool views = marks.saves != nullptr && marks.saves->is_view;
  watched.blank = watched.blank && views;
  if (range.innermost_backward >= 0) {
    const bool outermost = range.is_operator && range.outermost_operator == static_cast<std::int32_t>(range.depth);
    if (outermost && !views && !marks.writes && IsOpen(watched.thread, watched.node))
      evidence.Note(Sign::kReadByItsNode);
    return evidence.Note(Sign::kReadInBackward);
  }
  evidence.Note(Sign::kReadOutside);
  if (range.phase == Phase::kOther) evidence.Note(Sign::kReadByProgram);
  if (!IsCalled(facts, watched)) evidence.Note(Sign::kReadAfterCall);
  if (facts.model_call == 0 || watched.model_call == 0 || watched.model_call == facts.model_call) return;
  // By the same model again, or by another in more than one call.
  if (watched.model == facts.model || (watched.read_call != 0 && watched.read_call != facts.model_call))
    evidence.Note(Sign::kCarried);
  watched.read_call = facts.model_call;
}

void EvidencePass::OnRangeEnd(const RangeEndEvent& event) {
  const OpenRange& range = *event.range;
  if (range.source == RangeSource::kBackward || range.role.optimizer) places_.ExitRange(event.thread, range.depth);
  for (const Tensor& tensor : event.tensors) {
    if (Watched* watched = At(tensor)) watched->evidence.Note(Sign::kTensor);
  }
  NoteSaved(event);
  if (marks_.Of(range.name, state_->dictionary()).cuts) NoteCutResult(event);
}

void EvidencePass::OnModuleEnter(const ModuleEvent& event) {
  if (event.of_gradient) return;
  places_.EnterModule(event.thread, event.depth, event.module);
  ThreadFacts& facts = FactsOf(event.thread);
  facts.module_calls.resize(event.depth);
  facts.module_calls.push_back(++module_calls_);
  if (event.depth != 0) return;
  facts.model_call = module_calls_;
  facts.model = event.module;
}

bool EvidencePass::IsCalled(const ThreadFacts& facts, const Watched& watched) {
  return std::ranges::find(facts.module_calls, watched.module_call) != facts.module_calls.end();
}

void EvidencePass::OnModuleExit(const ModuleEvent& event) {
  places_.ExitModule(event.thread, event.depth);
  ThreadFacts& facts = FactsOf(event.thread);
  facts.module_calls.resize(std::min<std::size_t>(facts.module_calls.size(), event.depth));
  if (event.depth == 0) facts.model_call = 0;
}

void EvidencePass::OnDeallocate(const DeallocateEvent& event) {
  const Block& block = *event.block;
  Watched& watched = WatchedOf(block);
  if (watched.ordinal != block.ordinal) return;
  Evidence& evidence = watched.evidence;
  if (!event.temporary) evidence.Note(Sign::kOutlivedOperator);
  if (event.thread.valid()) {
    const RangeStack& stack = state_->stack(event.thread);
    if (!stack.empty() && stack.back().innermost_backward >= 0) evidence.Note(Sign::kFreedInBackward);
  }
  NoteEnd(block, watched);
}

void EvidencePass::NoteEnd(const Block& block, Watched& watched) {
  if (watched.at_cut.rule != kNotJudged) {
    Judge(watched, watched.at_cut);
  } else {
    Evidence& evidence = watched.evidence;
    evidence.trains = trains_;
    if (!IsOpen(watched.thread, watched.node)) evidence.Note(Sign::kOutlivedNode);
    if (!IsOpen(watched.thread, watched.step)) evidence.Note(Sign::kOutlivedStep);
    if (watched.model_call != 0 && watched.thread.valid() && FactsOf(watched.thread).model_call != watched.model_call)
      evidence.Note(Sign::kOutlivedModel);
    if (graph_.Keepers({block.slot, block.ordinal}) != 0) evidence.Note(Sign::kPending);
    if (moved_.contains(watched.ordinal)) evidence.Note(Sign::kMovedParameter);
    if (CopiesParameter(watched)) evidence.Note(Sign::kCopiesParameter);
    if (evidence.phase == Phase::kForward && evidence.Has(Sign::kOutlivedModel) && WasCarried(watched.place))
      evidence.Note(Sign::kCarried);
    const RuleNumber rule = RuleFor(evidence);
    places_.Note(watched.place,
                 {rule, block.slot, block.ordinal, watched.gradient_of.slot, watched.gradient_of.ordinal});
    Judge(watched, {rule, false});
    if (watched.computed_by != GraphBook::kNoStep) LeaveComputed(watched, block.slot);
  }
  moved_.erase(watched.ordinal);
  watched.ordinal = kNoOrdinal;
}

// The last of what a program carries from call to call is read by none.
bool EvidencePass::WasCarried(std::uint64_t place) const {
  const PlaceBook::Became* before = places_.Find(place);
  return before != nullptr && Rules()[before->rule].name == "carried_between_calls";
}

void EvidencePass::Judge(Watched& watched, Judgement judgement) {
  rules_.Set(watched.ordinal, judgement.rule);
  if (watched.evidence.parameter != kNoParameter) book_.BlockEnds(watched.ordinal);
  if (forgets_) return;
  if (judgement.expected) expected_.Set(watched.ordinal, true);
  if (watched.evidence.parameter != kNoParameter) owners_.Set(watched.ordinal, watched.evidence.parameter);
}

RuleNumber EvidencePass::RuleOfEnded(std::uint64_t ordinal) const {
  const RuleNumber rule = rules_.Of(ordinal);
  return rule == kNotJudged ? NothingKnown() : rule;
}

void EvidencePass::Forget(std::uint64_t next) {
  forgets_ = true;
  rules_.Forget(next);
}

}  // namespace memoir
