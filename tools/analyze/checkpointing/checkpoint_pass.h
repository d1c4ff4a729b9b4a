// The pass of AnalyzeCheckpointing: follows, for each group of modules, the blocks that checkpointing would free, and
// the blocks that checkpointing would keep live.
//
// The stages of a block, for each call in which it was made:
//
//     made ──► last read in forward, ──► backward reads it ──► freed
//              and its holder returns │                    │
//                    settled            └─ counts as freed ──┘ all of the call's blocks are recomputed
//
// A block leaves a call if an operator outside of the call saved it, or if another call of the same group receives it
// as an input. Checkpointing of the call does not free such a block.
#ifndef TOOLS_ANALYZE_CHECKPOINTING_CHECKPOINT_PASS_H_
#define TOOLS_ANALYZE_CHECKPOINTING_CHECKPOINT_PASS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/analyze/checkpointing/block_uses.h"
#include "tools/analyze/checkpointing/call_tree.h"
#include "tools/analyze/checkpointing/checkpointed_peaks.h"
#include "tools/analyze/checkpointing/checkpointing.h"
#include "tools/analyze/pass/windowed_visitor.h"

namespace memoir {

class CheckpointPass : public WindowedVisitor {
 public:
  CheckpointPass(const Capture& capture, const Selection& selection, const BlockCategories& categories,
                 const BlockUses& uses)
      : WindowedVisitor(capture, selection), categories_(categories), uses_(uses) {}
  std::vector<CheckpointDevice> Take() { return std::move(rows_); }
  bool takes_repeats() const override { return true; }  // visited steps contain the peaks of repeated steps

 protected:
  void SeeProcessEnd(const ProcessEvent& event) override;
  void SeeWindowOpen(const Event& event) override;
  void SeeWindowClose(const Event& event) override;
  void SeeRangeBegin(const RangeBeginEvent& event) override;
  void SeeRangeEnd(const RangeEndEvent& event) override;
  void SeeAllocate(const AllocateEvent& event) override;
  void SeeDeallocate(const DeallocateEvent& event) override;
  void SeeOutOfMemory(const OutOfMemoryEvent& event) override;
  void SeeModuleEnter(const ModuleEvent& event) override;
  void SeeModuleExit(const ModuleEvent& event) override;

 private:
  struct RuleTraits {
    bool activation, cast, may_be_input, workspace;
  };
  // A live block.
  struct WatchedBlock {
    std::uint64_t ordinal = ~std::uint64_t{0};
    CallNumber call = 0;        // innermost call that made it in forward
    bool activation = false;    // an activation that a module call made
    bool cast = false;          // a copy of a parameter, made in forward (autocast)
    bool may_be_input = false;  // can be an input of calls, because it does not live as long as the model
    bool settled = false;       // forward does not read the block any more, and its holder has returned
    CallNumber holder = 0;      // innermost call that contains all readers of the block: its frame may hold it
    DeviceId device;
    std::uint64_t bytes = 0;
    std::uint32_t reads = 0;     // number of reads in forward that are still to come
    std::uint64_t leaves = 0;    // a bit for each depth: the block leaves the call at this depth
    std::uint64_t saved_in = 0;  // a bit for each depth: an operator inside of that call saved the block
    bool freed_in_backward = false;
    std::vector<CallNumber> inputs_of;
    bool Leaves(std::uint32_t depth) const { return (leaves & Bit(depth)) != 0; }
    bool IsSavedIn(std::uint32_t depth) const { return (saved_in & Bit(depth)) != 0; }
    // Returns true if backward needs this block from a recomputation of the call at `depth`.
    bool Counts(std::uint32_t depth) const { return !Leaves(depth) || IsSavedIn(depth); }
    // Returns true if recomputing the call at `depth` makes the block a second time, and backward frees the first.
    bool IsReplaced(std::uint32_t depth) const { return Leaves(depth) && IsSavedIn(depth) && freed_in_backward; }
    static constexpr std::uint32_t kMostDepth = 64;  // deeper calls are not followed
    static std::uint64_t Bit(std::uint32_t depth) { return std::uint64_t{1} << (depth - 1); }
  };
  struct CallOnDevice {
    DeviceId device;
    PeakHistory::Instant begin = 0;
    std::uint64_t live_at_begin = 0;
    std::uint64_t most = 0;      // most live bytes minus live_at_begin, up to the last operator that saves a tensor
    std::uint64_t settled = 0;   // bytes of settled blocks that do not leave the call
    std::uint64_t replaced = 0;  // bytes of blocks for which IsReplaced() holds
  };
  struct Call {
    bool ended = false;
    bool made_again = false;
    AlikeNumber alike = 0;
    std::uint32_t depth = 0;
    std::uint64_t blocks = 0;  // live blocks for which Counts() holds
    std::vector<CallOnDevice> devices;
    std::vector<std::size_t> held;  // indices in held_
    // Blocks that settle when the call ends: slot, ordinal.
    std::vector<std::pair<std::uint32_t, std::uint64_t>> waiting;
  };
  // An input that the program freed. With checkpointing the calls that received it would still hold it.
  struct HeldInput {
    DeviceId device;
    AlikeNumber alike = 0;
    std::uint64_t bytes = 0;
    std::uint32_t calls = 0;
  };

  // A block that an open operator allocated, and that may be its result. The operator saves its results when it ends.
  struct Result {
    std::uint64_t operator_call = 0;  // OpenRange::call
    std::uint32_t slot = 0;
    std::uint64_t ordinal = 0;
  };

  static std::vector<RuleTraits> TraitsOfRules();
  // Returns the call at this depth: `call` itself, or a call around it. 0 if `call` is less deep.
  CallNumber AtDepth(CallNumber call, std::uint32_t depth) const {
    while (calls_[call].depth > depth) call = calls_[call].caller;
    return calls_[call].depth == depth ? call : 0;
  }
  CheckpointedPeaks& PeaksOf(DeviceId device, const Event& event);
  WatchedBlock* WatchedAt(const Tensor& tensor);
  static CallOnDevice& FindDevice(Call& call, DeviceId device, const CheckpointedPeaks& peaks);
  // Calls `function` with each entry of open_ for the calls around a block, innermost first.
  template <class Function>
  void ForCallsOf(CallNumber innermost, Function function) {
    for (CallNumber number = innermost; number != 0; number = calls_[number].caller) {
      if (const auto found = open_.find(number); found != open_.end()) function(found->second);
    }
  }
  std::size_t DeviceIndex(DeviceId device) const {
    return static_cast<std::size_t>(
        std::ranges::find(devices_, device, &std::pair<DeviceId, CheckpointedPeaks>::first) - devices_.begin());
  }
  WatchedBlock& Watch(const AllocateEvent& event);
  void LeaveOut(const Block& workspace, const CheckpointedPeaks& peaks);
  void NoteResult(const AllocateEvent& event, const WatchedBlock& watched);
  void NoteForwardReads(const RangeBeginEvent& event);
  void NoteBackwardReads(const RangeBeginEvent& event);
  void NoteMost(const WatchedBlock& watched, CallNumber within, DeviceId device);
  void NoteInput(WatchedBlock& watched, CallNumber call);
  void LeaveSibling(WatchedBlock& watched, CallNumber common, AlikeNumber alike);
  void AwaitReturn(std::uint32_t slot);
  void Settle(WatchedBlock& watched);
  void AddMade(const WatchedBlock& watched, CheckpointedPeaks& peaks);
  void RemoveMade(const WatchedBlock& watched, CheckpointedPeaks& peaks);
  void HoldInput(const WatchedBlock& watched, CheckpointedPeaks& peaks);
  std::size_t AddHeldInput(const HeldInput& held);
  void MakeAgainCallsOf(const WatchedBlock& watched, ThreadId thread);
  void MakeAgain(Call& call, ThreadId thread);
  std::int64_t MostWhileMadeAgain(const Call& call, const CallOnDevice& on, std::uint64_t live) const;
  void TouchCutOff(Call& call);
  void TouchWaiting();
  void EndCall(CallNumber number);
  void Release(CallNumber number);
  void FinishDevice(DeviceId device, const CheckpointedPeaks& peaks, ProcessId process);

  const BlockCategories& categories_;
  const BlockUses& uses_;
  const std::vector<RuleTraits> traits_ = TraitsOfRules();  // by RuleNumber
  CallTree calls_;
  absl::flat_hash_map<CallNumber, Call> open_;  // calls that have not ended, or that have counted blocks
  std::vector<WatchedBlock> watched_;           // by Block::slot
  std::vector<HeldInput> held_;
  std::vector<std::size_t> unheld_;                              // free indices of held_
  std::vector<std::pair<DeviceId, CheckpointedPeaks>> devices_;  // of the current process
  // By ThreadId: the live bytes of each of devices_ at the begin of the thread's newest autograd node.
  std::vector<std::vector<std::uint64_t>> live_at_node_;
  std::vector<std::vector<Result>> results_;      // by ThreadId
  std::vector<std::uint64_t> counted_, already_;  // numbers of all calls and of recomputed calls, by AlikeNumber
  std::vector<CheckpointDevice> rows_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CHECKPOINTING_CHECKPOINT_PASS_H_
