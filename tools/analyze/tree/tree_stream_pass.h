// The pass of StreamTree: shows each node at its begin, with the facts about its end that a first replay found.
#ifndef TOOLS_ANALYZE_TREE_TREE_STREAM_PASS_H_
#define TOOLS_ANALYZE_TREE_TREE_STREAM_PASS_H_

#include <deque>
#include <vector>

#include "tools/analyze/grouping/called_code.h"
#include "tools/analyze/pass/window/windowed_visitor.h"
#include "tools/analyze/tree/forward_links.h"
#include "tools/analyze/tree/thread_choice.h"
#include "tools/analyze/tree/tree_stream.h"

namespace memoir {

inline constexpr Tick kNoEnd = ~Tick{0};

// Facts about a node that become known after its begin.
struct NodeOutcome {
  Tick end = kNoEnd;
  std::uint64_t allocated = 0;
  std::uint64_t freed = 0;
  std::uint32_t parent = kNoTreeNode;
  ModuleId gradient_of;  // for a range that accumulates the gradient of a parameter: the parameter's module
};

// The first replay finds outcomes, the second shows nodes with them. Both number nodes in the same way.
class TreeStreamPass : public WindowedVisitor {
 public:
  TreeStreamPass(const Capture& capture, const TreeStreamOptions& options, std::deque<NodeOutcome>& outcomes,
                 const NodeFunction* see)
      : WindowedVisitor(capture, options), options_(options), thread_(options.thread), outcomes_(outcomes), see_(see) {}
  bool is_full() const { return is_full_; }
  const ThreadChoice& thread() const { return thread_; }

 protected:
  void SeeWindowOpen(const Event& event) override;
  void SeeRangeBegin(const RangeBeginEvent& event) override;
  void SeeRangeEnd(const RangeEndEvent& event) override;
  void SeeModuleEnter(const ModuleEvent& event) override;
  void SeeModuleExit(const ModuleEvent& event) override;
  void SeeCallBegin(const CallEvent& event) override;
  void SeeCallEnd(const CallEvent& event) override;
  void SeeAllocate(const AllocateEvent& event) override;
  void SeeDeallocate(const DeallocateEvent& event) override;
  void SeeOtherAllocate(const AllocateEvent& event) override {
    LiveOn(event.block->device).all += event.block->bytes;
    ShowChange(event, event.block->device);
  }
  void SeeOtherDeallocate(const DeallocateEvent& event) override {
    LiveOn(event.block->device).all -= event.block->bytes;
    ShowChange(event, event.block->device);
  }
  void SeeFreeCompleted(const FreeCompletedEvent& event) override { ShowChange(event, event.device); }
  void SeeSegment(const SegmentEvent& event) override;
  void SeeOutOfMemory(const OutOfMemoryEvent& event) override;
  void SeeDriverAllocate(const DriverAllocateEvent& event) override {
    if (event.block->origin == BlockOrigin::kRecorded) SeeDriver(event, MemoryAction::kDriverAllocate, *event.block);
  }
  void SeeDriverFree(const DriverFreeEvent& event) override;
  void SeeDriverRefused(const DriverRefusedEvent& event) override {
    SeeDriver(event, MemoryAction::kDriverRefused, *event.asked);
  }
  void SeeDeviceCall(const DeviceCallEvent& event) override;
  void SeeKernelRun(const KernelRunEvent& event) override {
    if (!finds() && options_.see_run) options_.see_run(event, state());
  }
  void SeeMark(const MarkEvent& event) override {
    if (!finds() && in_window() && options_.see_mark && Follows(event.thread)) options_.see_mark(event, state());
  }
  void SeeLost(const LostEvent& event) override { open_.ForgetModules(event.thread); }
  void SeeProcessEnd(const ProcessEvent&) override {
    open_.Clear();
    links_.Clear();
  }

 private:
  bool finds() const { return see_ == nullptr; }
  bool Follows(ThreadId thread) { return thread_.IsChosen(thread, state().dictionary()); }
  StreamedNode RangeNode(ThreadId thread, const OpenRange& range) const;
  StreamedNode ModuleNode(ThreadId thread, const OpenNode& call, Phase phase) const;
  StreamedNode CallNode(ThreadId thread, const OpenNode& call) const;
  // Numbers the node, and shows it in the second replay. Returns its number. kNoTreeNode if there are too many nodes.
  std::uint32_t Emit(StreamedNode node);
  void End(const OpenNode& open, Tick end);
  static StreamedNode MemoryNode(const Event& event, MemoryAction action, const Block& block);
  void ShowMemory(StreamedNode node, const RangeBase& base);
  void SeeDriver(const Event& event, MemoryAction action, const DriverBlock& block);
  LiveBytes& LiveOn(DeviceId device) {
    if (live_bytes_.size() <= device.value) live_bytes_.resize(device.value + std::size_t{1});
    return live_bytes_[device.value];
  }
  void ShowChange(const Event& event, DeviceId device) {
    if (!finds() && in_window() && options_.see_change) options_.see_change(event, device, LiveOn(device), state());
  }

  const TreeStreamOptions& options_;
  ThreadChoice thread_;
  CalledCodes codes_;
  std::deque<NodeOutcome>& outcomes_;  // by node number
  const NodeFunction* see_;            // nullptr: this is the first replay, which finds outcomes
  OpenNodes open_;                     // a node that began outside of a window has no number until a window opens
  ForwardLinks links_;
  std::vector<LiveBytes> live_bytes_;  // by DeviceId
  std::uint32_t next_ = 0;
  bool is_full_ = false;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_TREE_TREE_STREAM_PASS_H_
