// Follows every block of a replay through its life, notes what is seen of it, and lets the rules judge it at its end.
//
// One pass; what it keeps is by live block, one to six bytes for each block that ended, and of 2^20 of those what may
// lead to another judgement.
//
// In seven sources: evidence_pass.cc follows lives, origins.cc how they begin, copies.cc what they are copies of,
// holders.cc what modules, optimizers and autograd hold, collectives.cc what ranks exchange, graph_evidence.cc what
// autograd's nodes keep, cut.cc judges where a recording ends early.
#ifndef TOOLS_ANALYZE_CATEGORIES_EVIDENCE_PASS_H_
#define TOOLS_ANALYZE_CATEGORIES_EVIDENCE_PASS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "tools/analyze/categories/evidence.h"
#include "tools/analyze/categories/gradient_wants.h"
#include "tools/analyze/categories/graph_book.h"
#include "tools/analyze/categories/judged_blocks.h"
#include "tools/analyze/categories/parameter_book.h"
#include "tools/analyze/categories/place_book.h"
#include "tools/analyze/categories/range_marks.h"
#include "tools/analyze/categories/rules.h"
#include "tools/analyze/categories/watched_block.h"
#include "tools/model/capture.h"
#include "tools/model/event.h"

namespace memoir {

// Needs a replay with tensors and modules. Copies go on by themselves.
class EvidencePass : public Visitor {
 public:
  explicit EvidencePass(bool of_snapshot) : of_snapshot_(of_snapshot) {}
  void OnStart(const ReplayState& state) override { state_ = &state; }
  // What comes and goes in steps that repeat tells nothing new; blocks of theirs that are not shown have no rule.
  bool takes_repeats() const override { return true; }
  std::uint64_t MostRepeats(const RepeatedEvent& event) const override { return event.times; }
  void OnCycleBegin(const CycleEvent&) override {
    seen_at_cycle_ = seen_bytes_;
    unseen_at_cycle_ = unseen_bytes_;
  }
  void OnCycleEnd(const CycleEvent&) override {
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

  // Of a recording that is still being written: what each block that is live would be if it ended here, and the rule of
  // one that ended since the last Forget, which is to be called now and then: memory grows in between alone. `next`:
  // the ordinal of the next block. The Take functions are for whole recordings.
  void ForEachLive(const std::function<void(const Block&, RuleNumber)>& function);
  RuleNumber RuleOfEnded(std::uint64_t ordinal) const;
  void Forget(std::uint64_t next);

  // By Block::ordinal; the rules first.
  RulesOfBlocks TakeRules() { return rules_.Take(); }
  ByOrdinal<bool, false> TakeExpected() { return std::move(expected_); }
  ByOrdinal<ParameterNumber, kNoParameter> TakeOwners() { return std::move(owners_); }
  std::vector<Parameter> TakeParameters() { return book_.Take(); }
  // Of all bytes that were allocated those while operators were not recorded, from 0 to 1.
  double without_operators() const { return unseen_bytes_ == 0 ? 0 : unseen_bytes_ / (seen_bytes_ + unseen_bytes_); }

 private:
  using GradStep = GraphBook::Step;
  using BlockRef = GraphBook::BlockRef;

  Watched* At(const Tensor& tensor);
  Watched& WatchedOf(const Block& block);
  std::uint32_t SlotOf(const Watched& watched) const { return static_cast<std::uint32_t>(&watched - watched_.data()); }
  ThreadFacts& FactsOf(ThreadId thread);
  void NoteArguments(const RangeBeginEvent& event);
  static bool IsCalled(const ThreadFacts& facts, const Watched& watched);
  void NoteUse(const RangeBeginEvent& event, const ThreadFacts& facts, Watched& watched);
  void NoteCollective(const RangeBeginEvent& event, RangeMarks marks);
  void NoteSharding(const RangeBeginEvent& event, RangeMarks marks);
  void NoteEnd(const Block& block, Watched& watched);
  void Judge(Watched& watched, Judgement judgement);
  bool WasCarried(std::uint64_t place) const;
  // origins.cc
  void NoteOrigin(const AllocateEvent& event, Watched& watched);
  bool IsOwed(const ThreadFacts& facts, const Watched& watched) const;
  // copies.cc
  void NoteCopy(const RangeBeginEvent& event);
  void NoteCopyOver(const RangeBeginEvent& event);
  void NoteLeaf(const Tensor& leaf, Watched& watched);
  void NoteCut(const RangeBeginEvent& event);
  void NoteCutResult(const RangeEndEvent& event);
  bool CopiesParameter(const Watched& copy) const;
  bool IsLikelyParameter(const Evidence& evidence) const {
    return evidence.IsParameter() ||
           (!trains_ && evidence.Has(Sign::kWantsGradient) && evidence.phase == Phase::kOther);
  }
  // graph_evidence.cc
  std::uint64_t NoteNode(const RangeBeginEvent& event);
  void NoteOwed(const GraphBook::Node& ran, ThreadFacts& facts);
  bool Lives(const BlockRef& block) const {
    return block.slot < watched_.size() && watched_[block.slot].ordinal == block.ordinal;
  }
  void NoteGiven(const RangeBeginEvent& event);
  static void NoteOpen(ThreadFacts& facts, const BlockRef& block);
  bool MayStillBeGiven(const Watched& watched) const;
  GraphBook::Saves MayBeSaved(const GradStep& step, std::uint64_t call, const SavedTensors& saves) const;
  void NoteSaved(const RangeEndEvent& event);
  void NoteSavedResults(const RangeEndEvent& event, const Numbered& numbered);
  void NoteMaker(const RangeStack& stack, ThreadId thread, Watched& watched, std::uint32_t slot);
  void LeaveComputed(const Watched& watched, std::uint32_t slot);
  void EndPass();
  // cut.cc
  void JudgeLive();
  Judgement JudgeAtCut(const Watched& watched, std::uint32_t slot) const;
  Judgement AsBefore(const Watched& watched, RuleNumber rule) const;
  void CountUnsureNodes(bool counts);
  // holders.cc
  void HoldByModule(const HoldsEvent& event, ThreadFacts& facts);
  void HoldByOptimizer(const HoldsEvent& event);
  void NoteGradient(const HoldsEvent& event);
  void Hold(const Tensor& tensor, Sign sign, ParameterNumber parameter);
  void HoldGradient(const Tensor& leaf, const Tensor& gradient, ParameterNumber parameter);
  BookedTensor Booked(const Tensor& tensor);
  bool IsOpen(ThreadId thread, const OpenAt& range) const;
  static OpenAt RangeAt(const RangeStack& stack, std::int32_t depth);

  const bool of_snapshot_;
  const ReplayState* state_ = nullptr;
  RangeMarkTable marks_;
  std::vector<Watched> watched_;  // by Block::slot
  Watched late_;                  // of a block without a slot
  std::vector<ThreadFacts> threads_;
  GraphBook graph_;
  GradientWants wants_;
  absl::flat_hash_set<std::uint64_t> leaf_elements_;  // how many leaves that want a gradient have
  PlaceBook places_;
  absl::flat_hash_set<std::uint64_t> moved_;  // ordinals of live blocks whose copies are parameters
  ParameterBook book_;
  // The backward pass that runs, or ran last: what no node keeps any more since.
  bool pass_open_ = false;
  std::uint64_t passes_begun_ = 0, passes_ended_ = 0;
  std::vector<BlockRef> let_go_;
  std::uint64_t module_calls_ = 0;
  std::uint64_t ranges_ = 0, ranges_at_cut_ = ~std::uint64_t{0};  // that had begun
  std::uint64_t judged_at_cuts_ = 0;
  bool trains_ = false;
  bool stepped_ = false;  // an optimizer was seen to hold something
  double seen_bytes_ = 0, unseen_bytes_ = 0;  // allocated while operators were recorded, and while not
  JudgedBlocks rules_;
  bool forgets_ = false;  // expected_ and owners_ are left empty
  ByOrdinal<bool, false> expected_;
  ByOrdinal<ParameterNumber, kNoParameter> owners_;
  double seen_at_cycle_ = 0, unseen_at_cycle_ = 0, seen_of_cycle_ = 0, unseen_of_cycle_ = 0;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_EVIDENCE_PASS_H_
