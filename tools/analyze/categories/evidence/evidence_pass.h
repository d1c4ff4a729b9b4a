// Follows every block, notes the evidence about the block, and judges the block by the rules when it is freed.
//
// Needs one replay, with tensors and modules. Memory: the state of live blocks, one to six bytes for each freed block,
// and the evidence of at most 2^20 freed blocks whose category may still change.
//
// The functions are in seven source files. Comments in the class name six of them. The other file is evidence_pass.cc.
#ifndef TOOLS_ANALYZE_CATEGORIES_EVIDENCE_EVIDENCE_PASS_H_
#define TOOLS_ANALYZE_CATEGORIES_EVIDENCE_EVIDENCE_PASS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "tools/analyze/categories/allocation_places.h"
#include "tools/analyze/categories/autograd_graph_book.h"
#include "tools/analyze/categories/evidence.h"
#include "tools/analyze/categories/freed_block_rules.h"
#include "tools/analyze/categories/evidence/state/gradient_wants.h"
#include "tools/analyze/categories/parameter_book.h"
#include "tools/analyze/categories/range_traits.h"
#include "tools/analyze/categories/rules.h"
#include "tools/analyze/categories/evidence/state/watched_block.h"
#include "tools/model/capture.h"
#include "tools/model/event.h"

namespace memoir {

class EvidencePass : public Visitor {
 public:
  explicit EvidencePass(bool of_snapshot) : of_snapshot_(of_snapshot) {}
  void OnStart(const ReplayState& state) override { state_ = &state; }
  // Blocks of repeated steps add no evidence. Blocks that the replay does not visit have no rule.
  bool takes_repeats() const override { return true; }
  std::uint64_t MostRepeats(const RepeatedEvent& event) const override { return event.times; }
  void OnRepeatGroupBegin(const RepeatGroupEvent&) override {
    seen_at_cycle_ = seen_bytes_;
    unseen_at_cycle_ = unseen_bytes_;
  }
  void OnRepeatGroupEnd(const RepeatGroupEvent&) override {
    seen_of_cycle_ = seen_bytes_ - seen_at_cycle_;
    unseen_of_cycle_ = unseen_bytes_ - unseen_at_cycle_;
  }
  void OnRepeated(const RepeatedEvent& event) override {
    seen_bytes_ += static_cast<double>(event.times) * seen_of_cycle_;
    unseen_bytes_ += static_cast<double>(event.times) * unseen_of_cycle_;
  }
  void OnCut(const CutEvent&) override { JudgeLive(); }
  void OnProcessEnd(const ProcessEvent& event) override;
  void OnRangeBegin(const RangeBeginEvent& event) override;
  void OnRangeEnd(const RangeEndEvent& event) override;
  void OnAllocate(const AllocateEvent& event) override;
  void OnDeallocate(const DeallocateEvent& event) override;
  void OnOutOfMemory(const OutOfMemoryEvent&) override { JudgeLive(); }
  void OnDriverRefused(const DriverRefusedEvent& event) override;
  void OnHolds(const HoldsEvent& event) override;
  void OnModuleEnter(const ModuleEvent& event) override;
  void OnModuleExit(const ModuleEvent& event) override;

  // The next three functions are for a recording that is still being written. ForEachLive calls `function` with each
  // live block, and with the rule that the block would have if the recording ended now. RuleOfEnded returns the rule of
  // a block that was freed since the last Forget. Forget bounds the memory; `next` is the next block's ordinal. The
  // Take functions are for complete recordings.
  void ForEachLive(const std::function<void(const Block&, RuleNumber)>& function);
  RuleNumber RuleOfEnded(std::uint64_t ordinal) const;
  void Forget(std::uint64_t next);

  // The results by Block::ordinal. Call TakeRules first.
  BlockRules TakeRules() { return rules_.Take(); }
  OrdinalTable<bool, false> TakeExpected() { return std::move(expected_); }
  OrdinalTable<ParameterNumber, kNoParameter> TakeOwners() { return std::move(owners_); }
  std::vector<Parameter> TakeParameters() { return book_.Take(); }
  // The share of allocated bytes without recorded operators, from 0 to 1.
  double without_operators() const { return unseen_bytes_ == 0 ? 0 : unseen_bytes_ / (seen_bytes_ + unseen_bytes_); }

 private:
  using GradStep = AutogradGraphBook::Step;
  using BlockRef = AutogradGraphBook::BlockRef;

  WatchedBlock* FindWatched(const Tensor& tensor);
  WatchedBlock& WatchedOf(const Block& block);
  std::uint32_t SlotOf(const WatchedBlock& live) const { return static_cast<std::uint32_t>(&live - watched_.data()); }
  ThreadFacts& FactsOf(ThreadId thread);
  void NoteArguments(const RangeBeginEvent& event);
  static bool IsCalled(const ThreadFacts& facts, const WatchedBlock& watched);
  void NoteUse(const RangeBeginEvent& event, const ThreadFacts& facts, WatchedBlock& watched);
  void NoteEnd(const Block& block, WatchedBlock& watched);
  void Judge(WatchedBlock& watched, Judgement judgement);
  bool WasCarried(std::uint64_t place) const;
  bool IsKeptForSteps(const WatchedBlock& watched) const;
  // origin_evidence.cc: the allocation of a block
  void NoteOrigin(const AllocateEvent& event, WatchedBlock& watched);
  bool IsOwed(const ThreadFacts& facts, const WatchedBlock& watched) const;
  bool IsOfGenerator(const Block& block) const;
  // copy_evidence.cc: the sources of copies, and second copies
  void NoteCopy(const RangeBeginEvent& event);
  void NoteCopyOver(const RangeBeginEvent& event);
  void NoteLeaf(const Tensor& leaf, WatchedBlock& watched);
  void NoteCut(const RangeBeginEvent& event);
  void NoteCutResult(const RangeEndEvent& event);
  void NoteLayout(const Tensor& tensor, WatchedBlock& watched);
  void NoteInput(const Block& block, const WatchedBlock& watched);
  void FindSecondCopies(ProcessId process);
  bool CopiesParameter(const WatchedBlock& copy) const;
  bool IsLikelyParameter(const Evidence& evidence) const {
    return evidence.IsParameter() ||
           (!trains_ && evidence.Has(Sign::kWantsGradient) && evidence.phase == Phase::kOther);
  }
  // graph_evidence.cc: the blocks that autograd nodes keep
  std::uint64_t NoteNode(const RangeBeginEvent& event);
  void NoteOwed(const AutogradGraphBook::Node& ran, ThreadFacts& facts);
  bool IsLive(const BlockRef& block) const {
    return block.slot < watched_.size() && watched_[block.slot].ordinal == block.ordinal;
  }
  void NoteGiven(const RangeBeginEvent& event);
  static void NoteOpen(ThreadFacts& facts, const BlockRef& block);
  bool MayStillBeGiven(const WatchedBlock& watched) const;
  AutogradGraphBook::Saving MayBeSaved(const GradStep& step, std::uint64_t call, const OperatorSaves& saves) const;
  void NoteSaved(const RangeEndEvent& event);
  void NoteSavedResults(const RangeEndEvent& event, const NumberedOperator& numbered);
  void NoteMaker(const RangeStack& stack, ThreadId thread, WatchedBlock& watched, std::uint32_t slot);
  void LeaveComputed(const WatchedBlock& watched, std::uint32_t slot);
  void EndPass();
  // live_block_judge.cc: the blocks that are live where a recording ends early
  void JudgeLive();
  Judgement JudgeLiveBlock(const WatchedBlock& watched, std::uint32_t slot) const;
  Judgement AsBefore(const WatchedBlock& watched, RuleNumber rule) const;
  void CountUnsureNodes(bool counts);
  // collective_evidence.cc: the exchange between ranks
  void NoteCollective(const RangeBeginEvent& event, RangeTraits traits);
  void NoteSharding(const RangeBeginEvent& event, RangeTraits traits);
  // holder_evidence.cc: the tensors that modules, optimizers and autograd hold
  void HoldByModule(const HoldsEvent& event, ThreadFacts& facts);
  void HoldByOptimizer(const HoldsEvent& event);
  void NoteGradient(const HoldsEvent& event);
  void Hold(const Tensor& tensor, Sign sign, ParameterNumber parameter);
  void HoldGradient(const Tensor& leaf, const Tensor& gradient, ParameterNumber parameter);
  BookedTensor BookTensor(const Tensor& tensor);
  bool IsOpen(ThreadId thread, const RangePosition& range) const;
  static RangePosition RangeAt(const RangeStack& stack, std::int32_t depth);

  const bool of_snapshot_;
  const ReplayState* state_ = nullptr;
  RangeTraitTable traits_;
  std::vector<WatchedBlock> watched_;  // by Block::slot
  WatchedBlock late_;                  // for blocks without a slot
  std::vector<ThreadFacts> threads_;
  AutogradGraphBook graph_;
  GradientWants wants_;
  absl::flat_hash_set<std::uint64_t> leaf_elements_;  // numbers of elements of leaves that require a gradient
  AllocationPlaces places_;
  absl::flat_hash_set<std::uint64_t> moved_;  // ordinals of live blocks that were copied to a block that is a parameter
  ParameterBook book_;
  SecondCopies inputs_;
  // Whether a backward pass runs, the numbers of passes, and the forward blocks that the newest pass released.
  bool pass_open_ = false;
  std::uint64_t passes_begun_ = 0, passes_ended_ = 0;
  std::vector<BlockRef> let_go_;
  std::uint64_t module_calls_ = 0;
  std::uint64_t model_calls_ = 0;  // calls of outermost modules
  // The number of ranges that have begun, and this number when JudgeLive() last judged live blocks.
  std::uint64_t ranges_ = 0, ranges_at_early_end_ = ~std::uint64_t{0};
  std::uint64_t judged_at_early_ends_ = 0;
  bool trains_ = false;
  bool stepped_ = false;                      // an optimizer has reported its tensors
  double seen_bytes_ = 0, unseen_bytes_ = 0;  // bytes allocated with and without recorded operators
  FreedBlockRules rules_;
  bool forgets_ = false;  // expected_ and owners_ stay empty
  OrdinalTable<bool, false> expected_;
  OrdinalTable<ParameterNumber, kNoParameter> owners_;
  double seen_at_cycle_ = 0, unseen_at_cycle_ = 0, seen_of_cycle_ = 0, unseen_of_cycle_ = 0;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_EVIDENCE_EVIDENCE_PASS_H_
