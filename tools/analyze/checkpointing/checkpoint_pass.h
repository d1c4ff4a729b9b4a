// The pass of AnalyzeCheckpointing: follows, for each group of modules, the blocks that checkpointing would free, and
// the blocks that checkpointing would keep live. It hands each event to the objects that own the figures:
//
//     event ──► FollowedBlocks    which live blocks count, and for which calls (followed_block.h)
//           ──► FollowedCalls     what the blocks of each call add to its group
//           ──► OperatorResults   the most memory of a call up to the last operator that saves a tensor
//           ──► HeldInputs        what checkpointing would keep
//           ──► Recomputation     what backward would run again
//                 │
//                 └─► CheckpointedPeaks of each device ──► rows
#ifndef TOOLS_ANALYZE_CHECKPOINTING_CHECKPOINT_PASS_H_
#define TOOLS_ANALYZE_CHECKPOINTING_CHECKPOINT_PASS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "tools/analyze/checkpointing/checkpoint_state.h"
#include "tools/analyze/checkpointing/checkpointing.h"
#include "tools/analyze/checkpointing/followed_blocks.h"
#include "tools/analyze/checkpointing/held_inputs.h"
#include "tools/analyze/checkpointing/operator_results.h"
#include "tools/analyze/checkpointing/recomputation.h"
#include "tools/analyze/pass/window/windowed_visitor.h"

namespace memoir {

class CheckpointPass : public WindowedVisitor {
 public:
  CheckpointPass(const Capture& capture, const Selection& selection, const BlockCategories& categories,
                 const BlockUses& uses)
      : WindowedVisitor(capture, selection), blocks_(shared_, categories, uses) {}
  CheckpointPass(const CheckpointPass&) = delete;
  CheckpointPass& operator=(const CheckpointPass&) = delete;
  std::vector<CheckpointDevice> Take() { return std::move(rows_); }
  bool takes_repeats() const override { return true; }  // repeated steps have the same peaks as visited steps

 protected:
  void SeeProcessEnd(const ProcessEvent& event) override;
  void SeeWindowOpen(const Event& event) override;
  void SeeWindowClose(const Event& event) override;
  void SeeRangeBegin(const RangeBeginEvent& event) override;
  void SeeRangeEnd(const RangeEndEvent& event) override { results_.EndOperator(event); }
  void SeeAllocate(const AllocateEvent& event) override;
  void SeeDeallocate(const DeallocateEvent& event) override;
  void SeeOutOfMemory(const OutOfMemoryEvent& event) override;
  void SeeModuleEnter(const ModuleEvent& event) override;
  void SeeModuleExit(const ModuleEvent& event) override;

 private:
  CheckpointedPeaks& PeaksOf(DeviceId device, const Event& event);
  FollowedBlock* FindFollowed(const Tensor& tensor);
  void NoteForwardReads(const RangeBeginEvent& event);
  void NoteBackwardReads(const RangeBeginEvent& event);
  void EndCall(CallNumber number);
  void Release(CallNumber number, const FollowedCall& call);
  void FinishDevice(DeviceId device, const CheckpointedPeaks& peaks, ProcessId process);

  CheckpointState shared_;
  FollowedBlocks blocks_;
  OperatorResults results_{shared_, blocks_};
  HeldInputs inputs_{shared_};
  Recomputation recomputation_{shared_};
  // Numbers of forward calls and of recomputed calls, by AlikeNumber.
  std::vector<std::uint64_t> counted_, already_;
  std::vector<CheckpointDevice> rows_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CHECKPOINTING_CHECKPOINT_PASS_H_
