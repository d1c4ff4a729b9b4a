// Follows every block of a replay through its life, notes what is seen of it, and lets the rules judge it at its end.
//
// One pass; what it keeps is by live block, five bytes for each block that ended, and of 2^20 of those what may lead to
// another judgement.
//
// In six sources: evidence_pass.cc follows lives, origins.cc how they begin, holders.cc what modules, optimizers and
// autograd hold, collectives.cc what ranks exchange, graph_evidence.cc what autograd's nodes keep, cut.cc judges where
// a recording ends early.
#ifndef TOOLS_ANALYZE_CATEGORIES_EVIDENCE_PASS_H_
#define TOOLS_ANALYZE_CATEGORIES_EVIDENCE_PASS_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "tools/analyze/categories/evidence.h"
#include "tools/analyze/categories/graph_book.h"
#include "tools/analyze/categories/parameter_book.h"
#include "tools/analyze/categories/place_book.h"
#include "tools/analyze/categories/range_marks.h"
#include "tools/analyze/categories/rules.h"
#include "tools/model/capture.h"
#include "tools/model/event.h"

namespace memoir {

// Needs a replay with tensors and modules. Copies go on by themselves.
class EvidencePass : public Visitor {
 public:
  void OnStart(const ReplayState& state) override { state_ = &state; }
  void OnCut(const CutEvent&) override { JudgeLive(); }
  void OnProcessEnd(const ProcessEvent& event) override;
  void OnRangeBegin(const RangeBeginEvent& event) override;
  void OnRangeEnd(const RangeEndEvent& event) override;
  void OnAllocate(const AllocateEvent& event) override;
  void OnDeallocate(const DeallocateEvent& event) override;
  void OnOutOfMemory(const OutOfMemoryEvent&) override { JudgeLive(); }
  void OnDriverRefused(const DriverRefusedEvent& event) override;
  void OnSwitch(const SwitchEvent& event) override { level_ = event.level; }
  void OnHolds(const HoldsEvent& event) override;
  void OnModuleEnter(const ModuleEvent& event) override;
  void OnModuleExit(const ModuleEvent& event) override;

  // By Block::ordinal.
  std::vector<RuleNumber> TakeRules();
  std::vector<bool> TakeExpected();
  std::vector<ParameterNumber> TakeOwners() { return std::move(owners_); }
  std::vector<Parameter> TakeParameters() { return book_.Take(); }
  // Of all bytes that were allocated those while operators were not recorded, from 0 to 1.
  double without_operators() const { return unseen_bytes_ == 0 ? 0 : unseen_bytes_ / (seen_bytes_ + unseen_bytes_); }

 private:
  static constexpr std::uint64_t kNoOrdinal = ~std::uint64_t{0};
  static constexpr RuleNumber kNotJudged = 0xff;

  using GradStep = GraphBook::Step;
  using BlockRef = GraphBook::BlockRef;

  // A range that was open, so that it can be told later whether it still is.
  struct OpenAt {
    std::int32_t depth = -1;  // -1: none
    std::uint64_t call = 0;
  };
  struct Judgement {
    RuleNumber rule = kNotJudged;
    bool expected = false;  // as a block of the same place became before
  };
  struct Watched {
    Evidence evidence;
    std::uint64_t ordinal = kNoOrdinal;
    std::uint64_t place = PlaceBook::kNowhere;
    ThreadId thread;
    std::uint64_t bytes = 0;
    GradStep computed_by = GraphBook::kNoStep;
    std::uint64_t computed_call = 0;
    OpenAt operation, node, step;            // the outermost operator, ...
    bool filled = false;                     // by an operator that fills or copies, and computes nothing
    bool inner = false;                      // made by another module than the outermost
    BlockRef gradient{0, kNoOrdinal};        // of a leaf: that it was last seen to have
    std::uint64_t model_call = 0;            // 0: made in none
    ModuleId model;                          // the outermost module that made it, or wrote it
    std::uint64_t read_call = 0;             // a later call that read it, of another model
    std::uint64_t passes_before = 0;         // backward passes that had begun in the process
    std::uint64_t copied_from = kNoOrdinal;  // the block that it is a copy of, and its slot
    std::uint32_t copied_slot = 0;
    std::uint64_t summed_pass = 0;           // of a leaf: the backward pass that adds up several gradients of it
    Judgement at_cut;  // what it was when less began to be known, if nothing has used it since
  };
  struct ThreadFacts {
    std::uint64_t model_call = 0;  // number of the call of an outermost module that is open; 0: none
    ModuleId model;                // that module
    bool derived = false;          // the outermost operator was given what parameters or modules gave
    bool fills = false;            // the outermost operator does so
    bool like_leaf = false;        // after the pattern of a leaf that wants a gradient
    OpenAt node;                   // of autograd, and as many bytes each as the leaves of which it computes gradients
    std::vector<std::uint64_t> owed;
    GradStep newest = GraphBook::kNoStep;  // the last number that an operator had, and that operator
    OpenAt newest_operator;
    OpenAt copy;  // the operator that copies
    std::uint64_t copy_of = kNoOrdinal;
    std::uint32_t copy_slot = 0;
    bool copies_parameter = false;
    // Who the last holds event was about, and how many of its parameters and buffers were named.
    bool holder_is_module = false;
    ModuleId holder;
    std::uint32_t parameters = 0, buffers = 0;
  };

  Watched* At(const Tensor& tensor);
  Watched& WatchedOf(const Block& block);
  std::uint32_t SlotOf(const Watched& watched) const { return static_cast<std::uint32_t>(&watched - watched_.data()); }
  ThreadFacts& FactsOf(ThreadId thread);
  void NoteArguments(const RangeBeginEvent& event);
  void NoteUse(const RangeBeginEvent& event, const ThreadFacts& facts, Watched& watched);
  void NoteCollective(const RangeBeginEvent& event, RangeMarks marks);
  void NoteSharding(const RangeBeginEvent& event, RangeMarks marks);
  void NoteEnd(const Block& block, Watched& watched);
  void Judge(Watched& watched, Judgement judgement);
  bool WasCarried(std::uint64_t place) const;
  // origins.cc
  void NoteOrigin(const AllocateEvent& event, Watched& watched);
  void NoteCopy(const RangeBeginEvent& event);
  bool CopiesParameter(const Watched& copy) const;
  // graph_evidence.cc
  std::uint64_t NoteNode(const RangeBeginEvent& event);
  void NoteOwed(const GraphBook::Node& ran, ThreadFacts& facts);
  bool Lives(const BlockRef& block) const {
    return block.slot < watched_.size() && watched_[block.slot].ordinal == block.ordinal;
  }
  void NoteGiven(const RangeBeginEvent& event);
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

  const ReplayState* state_ = nullptr;
  RangeMarkTable marks_;
  std::vector<Watched> watched_;  // by Block::slot
  Watched late_;                  // of a block without a slot
  std::vector<ThreadFacts> threads_;
  GraphBook graph_;
  PlaceBook places_;
  absl::flat_hash_set<std::uint64_t> moved_;  // ordinals of live blocks whose copies are parameters
  ParameterBook book_;
  // The backward pass that runs, or ran last: what no node keeps any more since.
  bool pass_open_ = false;
  std::uint64_t passes_begun_ = 0, passes_ended_ = 0;
  std::vector<BlockRef> let_go_;
  std::uint64_t model_calls_ = 0;
  std::uint64_t ranges_ = 0, ranges_at_cut_ = ~std::uint64_t{0};  // that had begun
  std::uint64_t judged_at_cuts_ = 0;
  bool trains_ = false;
  bool stepped_ = false;  // an optimizer was seen to hold something
  v1::RecordingLevel level_ = v1::LEVEL_ALL;
  double seen_bytes_ = 0, unseen_bytes_ = 0;  // allocated while operators were recorded, and while not
  std::vector<RuleNumber> rules_;
  std::vector<bool> expected_;
  std::vector<ParameterNumber> owners_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_EVIDENCE_PASS_H_
