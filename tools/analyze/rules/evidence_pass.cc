#include "tools/analyze/rules/evidence_pass.h"

#include <algorithm>

#include "tools/analyze/driver/refusal.h"

namespace memoir {
namespace {

constexpr Sign kOfModels[] = {Sign::kModuleParameter,   Sign::kOptimizedParameter, Sign::kLeaf,   Sign::kModuleBuffer,
                              Sign::kParameterGradient, Sign::kOptimizerState,     Sign::kDerived};

// Whether what is computed from it says something about the model.
bool Derives(const Evidence& evidence) {
  return evidence.phase != Phase::kOther ||
         std::ranges::any_of(kOfModels, [&](Sign sign) { return evidence.Has(sign); });
}

}  // namespace

EvidencePass::OpenAt EvidencePass::RangeAt(const RangeStack& stack, std::int32_t depth) {
  if (depth < 0 || static_cast<std::size_t>(depth) >= stack.size()) return {};
  return {depth, stack[static_cast<std::size_t>(depth)].call};
}

bool EvidencePass::IsOpen(ThreadId thread, const OpenAt& range) const {
  if (range.depth < 0 || !thread.valid()) return false;
  const RangeStack& stack = state_->stack(thread);
  const auto depth = static_cast<std::size_t>(range.depth);
  return depth < stack.size() && stack[depth].call == range.call;
}

EvidencePass::Watched& EvidencePass::WatchedOf(const Block& block) {
  if (block.slot == Block::kNoSlot) return late_;
  if (block.slot >= watched_.size()) watched_.resize(block.slot + 1);
  return watched_[block.slot];
}

EvidencePass::Watched* EvidencePass::At(const Tensor& tensor) {
  if (tensor.storage == 0) return nullptr;
  const Block* block = state_->LiveBlockAt(tensor.device, tensor.storage);
  return block == nullptr ? nullptr : &WatchedOf(*block);
}

EvidencePass::ThreadFacts& EvidencePass::FactsOf(ThreadId thread) {
  if (thread.value >= threads_.size()) threads_.resize(thread.value + 1);
  return threads_[thread.value];
}

void EvidencePass::OnRangeBegin(const RangeBeginEvent& event) {
  const OpenRange& range = *event.range;
  if (range.source == RangeSource::kBackward) NoteNode(range);
  NoteArguments(event);
  if (event.tensors.empty()) return;
  const RangeMarks marks = marks_.Of(range.name, state_->dictionary());
  if (marks.copies) NoteCopy(event);
  if (marks.reduces || marks.gathers || marks.scatters) NoteCollective(event, marks);
  if (marks.copies_in || marks.copies_out || marks.chunks) NoteSharding(event, marks);
}

void EvidencePass::NoteArguments(const RangeBeginEvent& event) {
  const OpenRange& range = *event.range;
  const bool node = range.source == RangeSource::kBackward;
  const Sign sign = node                            ? Sign::kNodeArgument
                    : range.innermost_backward >= 0 ? Sign::kReadInBackward
                                                    : Sign::kReadOutside;
  bool derived = false;
  for (const Tensor& tensor : event.tensors) {
    Watched* watched = At(tensor);
    if (watched == nullptr) continue;
    watched->evidence.Note(Sign::kTensor);
    watched->evidence.Note(sign);
    if (tensor.wants_gradient) watched->evidence.Note(Sign::kWantsGradient);
    derived = derived || Derives(watched->evidence);
  }
  const bool outermost = range.is_operator && range.outermost_operator == static_cast<std::int32_t>(range.depth);
  if (outermost) FactsOf(event.thread).derived = derived;
}

void EvidencePass::NoteCopy(const RangeBeginEvent& event) {
  ThreadFacts& facts = FactsOf(event.thread);
  const Watched* from = At(event.tensors[0]);
  facts.copy = RangeAt(*event.stack, static_cast<std::int32_t>(event.range->depth));
  facts.copy_of = from == nullptr ? kNoOrdinal : from->ordinal;
  facts.copy_slot = from == nullptr ? 0 : static_cast<std::uint32_t>(from - watched_.data());
  facts.copies_parameter = from != nullptr && from->evidence.IsParameter();
}

void EvidencePass::OnRangeEnd(const RangeEndEvent& event) {
  for (const Tensor& tensor : event.tensors) {
    if (Watched* watched = At(tensor)) watched->evidence.Note(Sign::kTensor);
  }
}

void EvidencePass::OnDriverRefused(const DriverRefusedEvent& event) {
  if (IsOutOfMemory(*state_, event)) out_of_memory_ = event.tick;
}

void EvidencePass::OnModuleEnter(const ModuleEvent& event) {
  if (event.depth == 0 && !event.of_gradient) FactsOf(event.thread).model_call = ++model_calls_;
}

void EvidencePass::OnModuleExit(const ModuleEvent& event) {
  if (event.depth == 0) FactsOf(event.thread).model_call = 0;
}

void EvidencePass::OnAllocate(const AllocateEvent& event) {
  const Block& block = *event.block;
  Watched& watched = WatchedOf(block);
  watched = Watched();
  watched.ordinal = block.ordinal;
  watched.thread = block.thread;
  watched.nodes_before = nodes_;
  if (block.thread.valid()) watched.model_call = FactsOf(block.thread).model_call;
  watched.evidence.phase = block.phase;
  watched.evidence.compiled = block.in_compiled_region;
  watched.evidence.found = block.origin == BlockOrigin::kFound;
  if (!event.before) (level_ == v1::LEVEL_ALL ? seen_bytes_ : unseen_bytes_) += static_cast<double>(block.bytes);
  if (event.stack == nullptr || event.stack->empty()) return;
  NoteOrigin(*event.stack, event.thread, watched, block.slot);
}

void EvidencePass::NoteOrigin(const RangeStack& stack, ThreadId thread, Watched& watched, std::uint32_t slot) {
  Evidence& evidence = watched.evidence;
  const OpenRange& innermost = stack.back();
  watched.node = RangeAt(stack, innermost.innermost_backward);
  watched.step = RangeAt(stack, innermost.innermost_optimizer);
  const ThreadFacts& facts = FactsOf(thread);
  if (innermost.outermost_operator >= 0) evidence.Note(Sign::kInOperator);
  if (facts.derived && innermost.outermost_operator >= 0) evidence.Note(Sign::kDerived);
  if (IsOpen(thread, facts.copy)) {
    watched.copied_from = facts.copy_of;
    watched.copied_slot = facts.copy_slot;
    if (facts.copies_parameter) evidence.Note(Sign::kCastParameter);
  }
  if (innermost.innermost_user >= 0) {
    const NameId user = stack[static_cast<std::size_t>(innermost.innermost_user)].name;
    if (marks_.Of(user, state_->dictionary()).loader) evidence.Note(Sign::kLoaded);
  }
  for (auto range = stack.rbegin(); range != stack.rend() && !range->role.backward; ++range) {
    if (range->source == RangeSource::kUser || range->sequence < 0) continue;
    evidence.Note(Sign::kGradMode);
    if (slot == Block::kNoSlot) return;
    const GradStep step{state_->dictionary().thread(thread).torch_id, range->sequence};
    Computed& computed = computed_[step];
    if (computed.call > range->call) return;  // a later operator took the number
    if (computed.call < range->call) {
      ended_ -= computed.ended.size();
      computed = {range->call, {}, {}};
    }
    computed.slots.push_back(slot);
    watched.computed_by = step;
    watched.computed_call = range->call;
    return;
  }
}

void EvidencePass::OnDeallocate(const DeallocateEvent& event) {
  const Block& block = *event.block;
  Watched& watched = WatchedOf(block);
  if (watched.ordinal != block.ordinal) return;
  Evidence& evidence = watched.evidence;
  if (!event.temporary) evidence.Note(Sign::kOutlivedOperator);
  if (out_of_memory_ >= block.tick && out_of_memory_ != 0) evidence.Note(Sign::kLeftLive);
  if (event.thread.valid()) {
    const RangeStack& stack = state_->stack(event.thread);
    if (!stack.empty() && stack.back().innermost_backward >= 0) evidence.Note(Sign::kFreedInBackward);
  }
  NoteEnd(block, watched);
}

void EvidencePass::NoteEnd(const Block& block, Watched& watched) {
  Evidence& evidence = watched.evidence;
  if (!IsOpen(watched.thread, watched.node)) evidence.Note(Sign::kOutlivedNode);
  if (!IsOpen(watched.thread, watched.step)) evidence.Note(Sign::kOutlivedStep);
  if (watched.model_call != 0 && FactsOf(watched.thread).model_call != watched.model_call)
    evidence.Note(Sign::kOutlivedModel);
  Judge(watched);
  if (watched.computed_by.second >= 0) LeaveComputed(block, watched);
  watched.ordinal = kNoOrdinal;
}

void EvidencePass::Judge(Watched& watched) {
  Evidence& evidence = watched.evidence;
  evidence.trains = trains_;
  if (watched.nodes_before != nodes_) evidence.Note(Sign::kBackwardBegan);
  if (moved_.erase(watched.ordinal) != 0) evidence.Note(Sign::kMovedParameter);
  if (CopiesParameter(watched)) evidence.Note(Sign::kCopiesParameter);
  if (watched.ordinal >= rules_.size()) {
    rules_.resize(watched.ordinal + 1, kNotJudged);
    owners_.resize(watched.ordinal + 1, kNoParameter);
  }
  rules_[watched.ordinal] = RuleFor(evidence);
  owners_[watched.ordinal] = evidence.parameter;
  if (evidence.parameter != kNoParameter) book_.BlockEnds(watched.ordinal);
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

std::vector<RuleNumber> EvidencePass::TakeRules() {
  const auto nothing_known = static_cast<RuleNumber>(Rules().size() - 1);
  std::ranges::replace(rules_, kNotJudged, nothing_known);
  return std::move(rules_);
}

void EvidencePass::OnProcessEnd(const ProcessEvent&) {
  state_->ForEachLiveBlock([&](const Block& block) {
    Watched& watched = WatchedOf(block);
    watched.evidence.Note(Sign::kOutlivedOperator);
    watched.evidence.Note(Sign::kLeftLive);
    NoteEnd(block, watched);
  });
  watched_.clear();
  computed_.clear();
  ended_first_.clear();
  ended_ = 0;
  moved_.clear();
  book_.EndProcess(state_->dictionary());
  nodes_ = 0;
  out_of_memory_ = 0;
  trains_ = false;
  level_ = v1::LEVEL_ALL;
}

}  // namespace memoir
