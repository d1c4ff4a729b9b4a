#include "tools/analyze/categories/evidence/evidence_pass.h"

#include <algorithm>

namespace memoir {
namespace {

constexpr Sign kOfModels[] = {
    Sign::kModuleParameter, Sign::kOptimizedParameter, Sign::kLeaf,           Sign::kWantsGradient,
    Sign::kModuleBuffer,    Sign::kParameterGradient,  Sign::kOptimizerState, Sign::kDerived};

RuleNumber NothingKnown() { return static_cast<RuleNumber>(Rules().size() - 1); }

// Returns true if everything that is computed from the block counts as derived from the model (Sign::kDerived).
bool Derives(const Evidence& evidence) {
  return evidence.phase != Phase::kOther ||
         std::ranges::any_of(kOfModels, [&](Sign sign) { return evidence.Has(sign); });
}

}  // namespace

RangePosition EvidencePass::RangeAt(const RangeStack& stack, std::int32_t depth) {
  if (depth < 0 || static_cast<std::size_t>(depth) >= stack.size()) return {};
  return {depth, stack[static_cast<std::size_t>(depth)].call};
}

bool EvidencePass::IsOpen(ThreadId thread, const RangePosition& range) const {
  if (range.depth < 0 || !thread.valid()) return false;
  const RangeStack& stack = state_->stack(thread);
  const auto depth = static_cast<std::size_t>(range.depth);
  return depth < stack.size() && stack[depth].call == range.call;
}

WatchedBlock& EvidencePass::WatchedOf(const Block& block) {
  if (block.slot == Block::kNoSlot) return late_;
  if (block.slot >= watched_.size()) watched_.resize(block.slot + 1);
  return watched_[block.slot];
}

WatchedBlock* EvidencePass::FindWatched(const Tensor& tensor) {
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
  const RangeTraits traits = traits_.FindTraits(range.name, state_->dictionary());
  if (traits.copies) NoteCopy(event);
  if (traits.copies_over) NoteCopyOver(event);
  if (traits.cuts) NoteCut(event);
  if (traits.reduces || traits.gathers || traits.scatters) NoteCollective(event, traits);
  if (traits.copies_in || traits.copies_out || traits.chunks) NoteSharding(event, traits);
}

void EvidencePass::NoteArguments(const RangeBeginEvent& event) {
  const OpenRange& range = *event.range;
  ThreadFacts& facts = FactsOf(event.thread);
  const bool outermost = range.is_operator && range.outermost_operator == static_cast<std::int32_t>(range.depth);
  if (outermost) facts.given.clear();
  bool derived = false;
  for (const Tensor& tensor : event.tensors) {
    WatchedBlock* watched = FindWatched(tensor);
    if (watched == nullptr) continue;
    NoteUse(event, facts, *watched);
    NoteLayout(tensor, *watched);
    if (outermost && range.innermost_backward >= 0) facts.given.push_back(watched->ordinal);
    if (tensor.wants_gradient) NoteLeaf(tensor, *watched);
    derived = derived || Derives(watched->evidence);
  }
  if (!outermost) return;
  facts.derived = derived;
  const RangeTraits traits = traits_.FindTraits(range.name, state_->dictionary());
  facts.fills = traits.fills;
  WatchedBlock* first = event.tensors.empty() ? nullptr : FindWatched(event.tensors[0]);
  const bool leaf = first != nullptr && event.tensors[0].wants_gradient;
  facts.like_leaf = leaf && traits.fills && !traits.copies;
  if (leaf && traits.initialises) first->evidence.Note(Sign::kInitialised);
  // A block that was allocated outside of modules belongs to the module call that writes to it.
  if (first != nullptr && traits.writes && range.phase == Phase::kForward && first->evidence.phase == Phase::kOther) {
    first->model_call = facts.model_call;
    first->model = facts.model;
  }
}

void EvidencePass::NoteUse(const RangeBeginEvent& event, const ThreadFacts& facts, WatchedBlock& watched) {
  const OpenRange& range = *event.range;
  watched.live_judgement = {};
  Evidence& evidence = watched.evidence;
  evidence.Note(Sign::kTensor);
  if (range.source == RangeSource::kBackward) return evidence.Note(Sign::kNodeArgument);
  const RangeTraits traits = traits_.FindTraits(range.name, state_->dictionary());
  const bool views = traits.saves != nullptr && traits.saves->is_view;
  watched.blank = watched.blank && views;
  if (range.innermost_backward >= 0) {
    const bool outermost = range.is_operator && range.outermost_operator == static_cast<std::int32_t>(range.depth);
    if (outermost && !views && !traits.writes && IsOpen(watched.thread, watched.node))
      evidence.Note(Sign::kReadByItsNode);
    return evidence.Note(Sign::kReadInBackward);
  }
  evidence.Note(Sign::kReadOutside);
  if (range.phase == Phase::kOther) evidence.Note(Sign::kReadByProgram);
  if (!IsCalled(facts, watched)) evidence.Note(Sign::kReadAfterCall);
  if (facts.model_call == 0 || watched.model_call == 0 || watched.model_call == facts.model_call) return;
  // The block is carried if the model that made it reads it in a later call, or if other models read it in two calls.
  if (watched.model == facts.model || (watched.read_call != 0 && watched.read_call != facts.model_call))
    evidence.Note(Sign::kCarried);
  watched.read_call = facts.model_call;
}

void EvidencePass::OnRangeEnd(const RangeEndEvent& event) {
  const OpenRange& range = *event.range;
  if (range.source == RangeSource::kBackward || range.role.optimizer) places_.ExitRange(event.thread, range.depth);
  for (const Tensor& tensor : event.tensors) {
    WatchedBlock* const watched = FindWatched(tensor);
    if (watched == nullptr) continue;
    watched->evidence.Note(Sign::kTensor);
    NoteLayout(tensor, *watched);
  }
  NoteSaved(event);
  if (traits_.FindTraits(range.name, state_->dictionary()).cuts) NoteCutResult(event);
}

void EvidencePass::OnModuleEnter(const ModuleEvent& event) {
  if (event.of_gradient) return;
  places_.EnterModule(event.thread, event.depth, event.module);
  ThreadFacts& facts = FactsOf(event.thread);
  facts.module_calls.resize(event.depth);
  facts.module_calls.push_back(++module_calls_);
  if (event.depth != 0) return;
  ++model_calls_;
  facts.model_call = module_calls_;
  facts.model = event.module;
}

void EvidencePass::OnModuleExit(const ModuleEvent& event) {
  places_.ExitModule(event.thread, event.depth);
  ThreadFacts& facts = FactsOf(event.thread);
  facts.module_calls.resize(std::min<std::size_t>(facts.module_calls.size(), event.depth));
  if (event.depth == 0) facts.model_call = 0;
}

void EvidencePass::OnDeallocate(const DeallocateEvent& event) {
  const Block& block = *event.block;
  WatchedBlock& watched = WatchedOf(block);
  if (watched.ordinal != block.ordinal) return;
  Evidence& evidence = watched.evidence;
  if (!event.temporary) evidence.Note(Sign::kOutlivedOperator);
  if (event.thread.valid()) {
    const RangeStack& stack = state_->stack(event.thread);
    if (!stack.empty() && stack.back().innermost_backward >= 0) evidence.Note(Sign::kFreedInBackward);
  }
  NoteEnd(block, watched);
}

void EvidencePass::NoteEnd(const Block& block, WatchedBlock& watched) {
  if (watched.live_judgement.rule != kNotJudged) {
    Judge(watched, watched.live_judgement);
  } else {
    Evidence& evidence = watched.evidence;
    evidence.trains = trains_;
    if (!IsOpen(watched.thread, watched.node)) evidence.Note(Sign::kOutlivedNode);
    if (!IsOpen(watched.thread, watched.step)) evidence.Note(Sign::kOutlivedStep);
    if (watched.model_call != 0 && watched.thread.valid() && FactsOf(watched.thread).model_call != watched.model_call)
      evidence.Note(Sign::kOutlivedModel);
    if (graph_.CountHolders({block.slot, block.ordinal}) != 0) evidence.Note(Sign::kPending);
    if (moved_.contains(watched.ordinal)) evidence.Note(Sign::kMovedParameter);
    if (CopiesParameter(watched)) evidence.Note(Sign::kCopiesParameter);
    if (evidence.phase == Phase::kForward && evidence.Has(Sign::kOutlivedModel) && WasCarried(watched.place))
      evidence.Note(Sign::kCarried);
    if (IsKeptForSteps(watched)) evidence.Note(Sign::kKeptForSteps);
    const RuleNumber rule = RuleFor(evidence);
    places_.Note(watched.place,
                 {rule, block.slot, block.ordinal, watched.gradient_of.slot, watched.gradient_of.ordinal});
    Judge(watched, {rule, false});
    if (watched.computed_by != AutogradGraphBook::kNoStep) LeaveComputed(watched, block.slot);
  }
  if (Rules()[rules_.RuleOf(watched.ordinal)].kept == Category::kInput) NoteInput(block, watched);
  moved_.erase(watched.ordinal);
  watched.ordinal = kNoOrdinal;
}

// No later call reads the last block of a place. So it counts as carried if the place's previous block was carried.
bool EvidencePass::WasCarried(std::uint64_t place) const {
  const AllocationPlaces::Outcome* before = places_.Find(place);
  return before != nullptr && Rules()[before->rule].name == "carried_between_calls";
}

void EvidencePass::Judge(WatchedBlock& watched, Judgement judgement) {
  rules_.Set(watched.ordinal, judgement.rule);
  if (watched.evidence.parameter != kNoParameter) book_.EndBlock(watched.ordinal);
  if (forgets_) return;
  if (judgement.expected) expected_.Set(watched.ordinal, true);
  if (watched.evidence.parameter != kNoParameter) owners_.Set(watched.ordinal, watched.evidence.parameter);
}

RuleNumber EvidencePass::RuleOfEnded(std::uint64_t ordinal) const {
  const RuleNumber rule = rules_.RuleOf(ordinal);
  return rule == kNotJudged ? NothingKnown() : rule;
}

void EvidencePass::Forget(std::uint64_t next) {
  forgets_ = true;
  rules_.Forget(next);
}

}  // namespace memoir
