// Follows every block of a replay through its life, notes what is seen of it, and lets the rules judge it at its end.
//
// One pass; what it keeps is by live block, five bytes for each block that ended, and of 2^20 of those what may lead to
// another judgement.
#ifndef TOOLS_ANALYZE_RULES_EVIDENCE_PASS_H_
#define TOOLS_ANALYZE_RULES_EVIDENCE_PASS_H_

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "tools/analyze/rules/evidence.h"
#include "tools/analyze/rules/parameter_book.h"
#include "tools/analyze/rules/range_marks.h"
#include "tools/analyze/rules/rules.h"
#include "tools/model/capture.h"
#include "tools/model/event.h"

namespace memoir {

// Needs a replay with tensors and modules.
class EvidencePass : public Visitor {
 public:
  void OnStart(const ReplayState& state) override { state_ = &state; }
  void OnProcessEnd(const ProcessEvent& event) override;
  void OnRangeBegin(const RangeBeginEvent& event) override;
  void OnRangeEnd(const RangeEndEvent& event) override;
  void OnAllocate(const AllocateEvent& event) override;
  void OnDeallocate(const DeallocateEvent& event) override;
  void OnOutOfMemory(const OutOfMemoryEvent& event) override { out_of_memory_ = event.tick; }
  void OnDriverRefused(const DriverRefusedEvent& event) override;
  void OnSwitch(const SwitchEvent& event) override { level_ = event.level; }
  void OnHolds(const HoldsEvent& event) override;
  void OnModuleEnter(const ModuleEvent& event) override;
  void OnModuleExit(const ModuleEvent& event) override;

  // By Block::ordinal.
  std::vector<RuleNumber> TakeRules();
  std::vector<ParameterNumber> TakeOwners() { return std::move(owners_); }
  std::vector<Parameter> TakeParameters() { return book_.Take(); }
  // Of all bytes that were allocated those while operators were not recorded, from 0 to 1.
  double without_operators() const { return unseen_bytes_ == 0 ? 0 : unseen_bytes_ / (seen_bytes_ + unseen_bytes_); }

 private:
  static constexpr std::uint64_t kMostEnded = 1u << 20;  // programs that never call backward would fill memory
  static constexpr std::uint64_t kNoOrdinal = ~std::uint64_t{0};
  static constexpr RuleNumber kNotJudged = 0xff;

  using GradStep =
      std::pair<std::uint64_t, std::int64_t>;  // torch's number of a thread, autograd's sequence number there

  // A range that was open, so that it can be told later whether it still is.
  struct OpenAt {
    std::int32_t depth = -1;  // -1: none
    std::uint64_t call = 0;
  };
  struct Watched {
    Evidence evidence;
    std::uint64_t ordinal = kNoOrdinal;
    ThreadId thread;
    GradStep computed_by{0, -1};  // -1: autograd was off
    std::uint64_t computed_call = 0;
    OpenAt node, step;
    std::uint64_t model_call = 0;            // 0: made in none
    std::uint64_t nodes_before = 0;          // nodes of autograd that had begun in the process
    std::uint64_t copied_from = kNoOrdinal;  // the block that it is a copy of, and its slot
    std::uint32_t copied_slot = 0;
  };
  // What the innermost range with an autograd sequence number has computed. An operator that makes no node leaves the
  // number to the next.
  struct Computed {
    std::uint64_t call = 0;
    std::vector<std::uint32_t> slots;
    // Blocks that ended before, of which a rule would say otherwise if the range turned out to be differentiable.
    std::vector<std::pair<std::uint64_t, Evidence>> ended;  // with their ordinals
  };
  struct ThreadFacts {
    std::uint64_t model_call = 0;  // number of the call of an outermost module that is open; 0: none
    bool derived = false;          // the outermost operator was given what parameters or modules gave
    OpenAt copy;                   // the operator that copies
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
  ThreadFacts& FactsOf(ThreadId thread);
  void NoteArguments(const RangeBeginEvent& event);
  void NoteCollective(const RangeBeginEvent& event, RangeMarks marks);
  void NoteSharding(const RangeBeginEvent& event, RangeMarks marks);
  void NoteCopy(const RangeBeginEvent& event);
  void NoteNode(const OpenRange& node);
  void NoteOrigin(const RangeStack& stack, ThreadId thread, Watched& watched, std::uint32_t slot);
  void NoteEnd(const Block& block, Watched& watched);
  void LeaveComputed(const Block& block, const Watched& watched);
  void ForgetOldest();
  void Judge(Watched& watched);
  bool CopiesParameter(const Watched& copy) const;
  void HoldByModule(const HoldsEvent& event, ThreadFacts& facts);
  void HoldByOptimizer(const HoldsEvent& event);
  void NoteGradient(const HoldsEvent& event);
  void Hold(const Tensor& tensor, Sign sign, ParameterNumber parameter);
  BookedTensor Booked(const Tensor& tensor);
  bool IsOpen(ThreadId thread, const OpenAt& range) const;
  static OpenAt RangeAt(const RangeStack& stack, std::int32_t depth);

  const ReplayState* state_ = nullptr;
  RangeMarkTable marks_;
  std::vector<Watched> watched_;  // by Block::slot
  Watched late_;                  // of a block without a slot
  std::vector<ThreadFacts> threads_;
  absl::flat_hash_map<GradStep, Computed> computed_;
  absl::flat_hash_set<std::uint64_t> moved_;  // ordinals of live blocks whose copies are parameters
  ParameterBook book_;
  std::uint64_t ended_ = 0;                                     // in computed_
  std::deque<std::pair<GradStep, std::uint64_t>> ended_first_;  // whose computed have ended ones, with their calls
  std::uint64_t nodes_ = 0;
  std::uint64_t model_calls_ = 0;
  Tick out_of_memory_ = 0;
  bool trains_ = false;
  v1::RecordingLevel level_ = v1::LEVEL_ALL;
  double seen_bytes_ = 0, unseen_bytes_ = 0;  // allocated while operators were recorded, and while not
  std::vector<RuleNumber> rules_;
  std::vector<ParameterNumber> owners_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_RULES_EVIDENCE_PASS_H_
