// Follows every block, notes the evidence about the block, and judges the block by the rules when it is freed.
//
// Needs one replay, with tensors and modules. Memory: the state of live blocks, one to six bytes for each freed block,
// and the evidence of at most 2^20 freed blocks whose category may still change.
//
// The handlers (evidence_handlers.h) note the evidence and judge the blocks. The pass hands each event to the handlers
// that need it.
#ifndef TOOLS_ANALYZE_CATEGORIES_EVIDENCE_EVIDENCE_PASS_H_
#define TOOLS_ANALYZE_CATEGORIES_EVIDENCE_EVIDENCE_PASS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "tools/analyze/categories/block_categories.h"
#include "tools/analyze/categories/evidence/evidence_handlers.h"
#include "tools/analyze/categories/freed_block_rules.h"
#include "tools/analyze/categories/ordinal_table.h"
#include "tools/analyze/categories/parameter_book.h"
#include "tools/analyze/categories/rules.h"
#include "tools/model/capture.h"
#include "tools/model/event/event.h"

namespace memoir {

class EvidencePass : public Visitor {
 public:
  explicit EvidencePass(bool of_snapshot) : handlers_(of_snapshot) {}
  // Copies the state of `other`. Afterwards the two passes are independent.
  EvidencePass(const EvidencePass& other) : EvidencePass(false) { handlers_ = other.handlers_; }
  EvidencePass& operator=(const EvidencePass&) = delete;

  void OnStart(const ReplayState& state) override { handlers_.shared.Start(state); }
  // Blocks of repeated steps add no evidence. Blocks that the replay does not visit have no rule.
  bool takes_repeats() const override { return true; }
  std::uint64_t MostRepeats(const RepeatedEvent& event) const override { return event.times; }
  void OnRepeatGroupBegin(const RepeatGroupEvent&) override { handlers_.unseen_bytes.BeginRepeatGroup(); }
  void OnRepeatGroupEnd(const RepeatGroupEvent&) override { handlers_.unseen_bytes.EndRepeatGroup(); }
  void OnRepeated(const RepeatedEvent& event) override { handlers_.unseen_bytes.AddRepeats(event); }
  void OnCut(const CutEvent&) override { handlers_.live_blocks.JudgeLive(); }
  void OnProcessEnd(const ProcessEvent& event) override;
  void OnRangeBegin(const RangeBeginEvent& event) override;
  void OnRangeEnd(const RangeEndEvent& event) override;
  void OnAllocate(const AllocateEvent& event) override;
  void OnDeallocate(const DeallocateEvent& event) override { handlers_.freed_blocks.NoteFree(event); }
  void OnOutOfMemory(const OutOfMemoryEvent&) override { handlers_.live_blocks.JudgeLive(); }
  void OnDriverRefused(const DriverRefusedEvent& event) override;
  void OnHolds(const HeldTensorsEvent& event) override { handlers_.holders.NoteHolds(event); }
  void OnModuleEnter(const ModuleEvent& event) override;
  void OnModuleExit(const ModuleEvent& event) override;

  // The next three functions are for a recording that is still being written. ForEachLive calls `function` with each
  // live block and the rule that the block would have if the recording ended now. RuleOfEnded returns the rule of a
  // block that was freed since the last Forget. Forget bounds the memory; `next` is the next block's ordinal. The Take
  // functions are for complete recordings.
  void ForEachLive(const std::function<void(const Block&, RuleNumber)>& function) {
    handlers_.live_blocks.ForEachLive(function);
  }
  RuleNumber RuleOfEnded(std::uint64_t ordinal) const { return handlers_.freed_blocks.RuleOfEnded(ordinal); }
  void Forget(std::uint64_t next) { handlers_.freed_blocks.Forget(next); }

  // The results, as members of BlockCategories.
  BlockRules TakeRules() { return handlers_.shared.rules.Take(); }
  OrdinalTable<bool, false> TakeExpected() { return handlers_.freed_blocks.TakeExpected(); }
  OrdinalTable<ParameterNumber, kNoParameter> TakeOwners() { return handlers_.freed_blocks.TakeOwners(); }
  LibraryWorkspaces TakeWorkspaces() { return handlers_.freed_blocks.TakeWorkspaces(); }
  std::vector<Parameter> TakeParameters() { return handlers_.holders.TakeParameters(); }
  // The share of allocated bytes without recorded operators, from 0 to 1.
  double without_operators() const { return handlers_.unseen_bytes.share(); }

 private:
  void NoteNodeOrStep(const RangeBeginEvent& event);

  EvidenceHandlers handlers_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_EVIDENCE_EVIDENCE_PASS_H_
