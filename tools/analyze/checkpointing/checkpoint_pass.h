// The pass behind AnalyzeCheckpointing: follows what each group of modules would free and hold while a replay runs.
//
// A block that a call made passes through this, for each call that it was made in:
//
//     made ──► last read in forward, ──► backward reads it ──► freed
//              and who holds it returns │                    │
//                    settled            └─ counts as freed ──┘ all of the call's is made again
//
// unless it leaves the call: saved by an operator outside, or an input of another call of the same modules.
#ifndef TOOLS_ANALYZE_CHECKPOINTING_CHECKPOINT_PASS_H_
#define TOOLS_ANALYZE_CHECKPOINTING_CHECKPOINT_PASS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/analyze/checkpointing/alike_peaks.h"
#include "tools/analyze/checkpointing/block_uses.h"
#include "tools/analyze/checkpointing/call_tree.h"
#include "tools/analyze/checkpointing/checkpointing.h"
#include "tools/analyze/pass/windowed_visitor.h"

namespace memoir {

class CheckpointPass : public WindowedVisitor {
 public:
  CheckpointPass(const Capture& capture, const Selection& selection, const BlockCategories& categories,
                 const BlockUses& uses)
      : WindowedVisitor(capture, selection), categories_(categories), uses_(uses) {}
  std::vector<CheckpointDevice> Take() { return std::move(rows_); }
  bool takes_repeats() const override { return true; }  // peaks are those of the steps that are shown

 protected:
  void SeeProcessEnd(const ProcessEvent& event) override;
  void WindowOpens(const Event& event) override;
  void WindowCloses(const Event& event) override;
  void SeeRangeBegin(const RangeBeginEvent& event) override;
  void SeeRangeEnd(const RangeEndEvent& event) override;
  void SeeAllocate(const AllocateEvent& event) override;
  void SeeDeallocate(const DeallocateEvent& event) override;
  void SeeOutOfMemory(const OutOfMemoryEvent& event) override;
  void SeeModuleEnter(const ModuleEvent& event) override;
  void SeeModuleExit(const ModuleEvent& event) override;

 private:
  struct RuleMarks {
    bool activation, cast, may_be_input, workspace;
  };
  // A block that is live.
  struct Watched {
    std::uint64_t ordinal = ~std::uint64_t{0};
    CallNumber call = 0;        // the innermost that made it in forward
    bool activation = false;    // that calls made
    bool cast = false;          // a copy of a parameter
    bool may_be_input = false;  // of calls: nothing that lives as long as the model
    bool settled = false;       // forward reads it no more, and the frame that had it has returned
    CallNumber holder = 0;      // whose frame may have it: the innermost call that all its readers are in
    DeviceId device;
    std::uint64_t bytes = 0;
    std::uint32_t reads = 0;     // in forward, to come
    std::uint64_t leaves = 0;    // bit by depth of a call
    std::uint64_t saved_in = 0;  // likewise: an operator inside saved it
    bool freed_in_backward = false;
    std::vector<CallNumber> inputs_of;
    bool Leaves(std::uint32_t depth) const { return (leaves & Bit(depth)) != 0; }
    bool IsSavedIn(std::uint32_t depth) const { return (saved_in & Bit(depth)) != 0; }
    // Whether the call has to be made again for it.
    bool Counts(std::uint32_t depth) const { return !Leaves(depth) || IsSavedIn(depth); }
    // It is there twice while the call is made again, but what was left of the first is gone by then.
    bool IsReplaced(std::uint32_t depth) const { return Leaves(depth) && IsSavedIn(depth) && freed_in_backward; }
    static constexpr std::uint32_t kMostDepth = 64;  // calls deeper than that are not followed
    static std::uint64_t Bit(std::uint32_t depth) { return std::uint64_t{1} << (depth - 1); }
  };
  struct CallOnDevice {
    DeviceId device;
    LiveHeights::Instant begin = 0;
    std::uint64_t live_at_begin = 0;
    std::uint64_t most = 0;      // above that, until the last operator that saves something
    std::uint64_t settled = 0;   // of its blocks that do not leave it
    std::uint64_t replaced = 0;  // see IsReplaced
  };
  struct Call {
    bool ended = false;
    bool made_again = false;
    AlikeNumber alike = 0;
    std::uint32_t depth = 0;
    std::uint64_t blocks = 0;  // live and counting
    std::vector<CallOnDevice> devices;
    std::vector<std::size_t> held;                                 // in held_
    std::vector<std::pair<std::uint32_t, std::uint64_t>> waiting;  // blocks that settle when it ends: slot, ordinal
  };
  // An input that is freed, but would be held by the calls that it was given to.
  struct Held {
    DeviceId device;
    AlikeNumber alike = 0;
    std::uint64_t bytes = 0;
    std::uint32_t calls = 0;
  };

  // A block that an operator made which has not ended: it saves its results at its end.
  struct Result {
    std::uint64_t operator_call = 0;  // OpenRange::call
    std::uint32_t slot = 0;
    std::uint64_t ordinal = 0;
  };

  static std::vector<RuleMarks> MarksOfRules();
  // The call itself, or the one around it, that has this depth; 0: none has.
  CallNumber AtDepth(CallNumber call, std::uint32_t depth) const {
    while (calls_[call].depth > depth) call = calls_[call].caller;
    return calls_[call].depth == depth ? call : 0;
  }
  AlikePeaks& PeaksOf(DeviceId device, const Event& event);
  Watched* WatchedAt(const Tensor& tensor);
  static CallOnDevice& On(Call& call, DeviceId device, const AlikePeaks& peaks);
  // Calls `function` with each call that a block was made in and which has something to free, innermost first.
  template <class Function>
  void ForCallsOf(CallNumber innermost, Function function) {
    for (CallNumber number = innermost; number != 0; number = calls_[number].caller) {
      if (const auto found = open_.find(number); found != open_.end()) function(found->second);
    }
  }
  std::size_t DeviceIndex(DeviceId device) const {
    return static_cast<std::size_t>(std::ranges::find(devices_, device, &std::pair<DeviceId, AlikePeaks>::first) -
                                    devices_.begin());
  }
  Watched& Watch(const AllocateEvent& event);
  void LeaveOut(const Block& workspace, const AlikePeaks& peaks);
  void NoteResult(const AllocateEvent& event, const Watched& watched);
  void NoteForwardReads(const RangeBeginEvent& event);
  void NoteBackwardReads(const RangeBeginEvent& event);
  void NoteMost(const Watched& watched, CallNumber within, DeviceId device);
  void NoteInput(Watched& watched, CallNumber call);
  void LeaveSibling(Watched& watched, CallNumber common, AlikeNumber alike);
  void AwaitReturn(std::uint32_t slot);
  void Settle(Watched& watched);
  void AddMade(const Watched& watched, AlikePeaks& peaks);
  void RemoveMade(const Watched& watched, AlikePeaks& peaks);
  void HoldInput(const Watched& watched, AlikePeaks& peaks);
  std::size_t NewHeld(const Held& held);
  void MakeAgainCallsOf(const Watched& watched, ThreadId thread);
  void MakeAgain(Call& call, ThreadId thread);
  std::int64_t MostWhileMadeAgain(const Call& call, const CallOnDevice& on, std::uint64_t live) const;
  void TouchCutOff(Call& call);
  void TouchWaiting();
  void EndCall(CallNumber number);
  void Release(CallNumber number);
  void FinishDevice(DeviceId device, const AlikePeaks& peaks, ProcessId process);

  const BlockCategories& categories_;
  const BlockUses& uses_;
  const std::vector<RuleMarks> marks_ = MarksOfRules();  // by RuleNumber
  CallTree calls_;
  absl::flat_hash_map<CallNumber, Call> open_;  // that have not ended, or have blocks that count
  std::vector<Watched> watched_;                // by Block::slot
  std::vector<Held> held_;
  std::vector<std::size_t> unheld_;                       // free places of held_
  std::vector<std::pair<DeviceId, AlikePeaks>> devices_;  // of the process in hand
  std::vector<std::vector<std::uint64_t>> live_at_node_;  // by ThreadId: of devices_, when its newest node began
  std::vector<std::vector<Result>> results_;              // by ThreadId
  std::vector<std::uint64_t> counted_, already_;          // calls of the process in hand, by AlikeNumber
  std::vector<CheckpointDevice> rows_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CHECKPOINTING_CHECKPOINT_PASS_H_
