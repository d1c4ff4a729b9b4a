// A pass that merges the ranges, calls and memory events of a recording into a MergedTree.
#ifndef TOOLS_ANALYZE_TREE_MERGED_TREE_PASS_H_
#define TOOLS_ANALYZE_TREE_MERGED_TREE_PASS_H_

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tools/analyze/grouping/called_code.h"
#include "tools/analyze/pass/window/windowed_visitor.h"
#include "tools/analyze/tree/forward_links.h"
#include "tools/analyze/tree/merged_tree.h"
#include "tools/analyze/tree/open_nodes.h"
#include "tools/analyze/tree/range_tree.h"
#include "tools/analyze/tree/thread_choice.h"

namespace memoir {

// Needs a replay with modules. `thread`: number or name of the selected thread; empty: all threads.
class MergedTreePass : public WindowedVisitor {
 public:
  // Calls `done` at the end of the replay, while the replay's dictionary of names still exists.
  MergedTreePass(const Capture& capture, const Selection& selection, const std::string& thread, TreeCalls calls,
                 std::function<void(const ReplayState&)> done)
      : WindowedVisitor(capture, selection),
        thread_(thread),
        calls_(calls),
        codes_(selection.own),
        done_(std::move(done)) {}

  const MergedTree& tree() const { return tree_; }
  const ThreadChoice& thread() const { return thread_; }

 protected:
  void SeeWindowOpen(const Event& event) override;
  void SeeWindowClose(const Event& event) override;
  void SeeRangeBegin(const RangeBeginEvent& event) override;
  void SeeRangeEnd(const RangeEndEvent& event) override;
  void SeeModuleEnter(const ModuleEvent& event) override;
  void SeeModuleExit(const ModuleEvent& event) override;
  void SeeCallBegin(const CallEvent& event) override;
  void SeeCallEnd(const CallEvent& event) override;
  void SeeAllocate(const AllocateEvent& event) override;
  void SeeDeallocate(const DeallocateEvent& event) override;
  void SeeSegment(const SegmentEvent& event) override;
  void SeeOutOfMemory(const OutOfMemoryEvent& event) override;
  void SeeDriverAllocate(const DriverAllocateEvent& event) override { SeeDriver(event, *event.block); }
  void SeeDriverFree(const DriverFreeEvent& event) override;
  void SeeDriverRefused(const DriverRefusedEvent& event) override;
  void SeeDeviceCall(const DeviceCallEvent& event) override;
  void SeeLost(const LostEvent& event) override { open_.ForgetModules(event.thread); }
  void SeeProcessEnd(const ProcessEvent& event) override;
  void SeeEnd(const ReplayReport&) override { done_(state()); }

 private:
  static constexpr std::uint32_t kNotFollowed = 0xffffffffu;

  bool Follows(ThreadId thread) { return thread_.IsChosen(thread, state().dictionary()); }
  std::uint32_t Around(ThreadId thread, const RangeBase& base) const;
  bool IsShown(const CallEvent& event);
  void SeeDriver(const Event& event, const DriverBlock& block);
  void Count(const Event& event, LeafPlace place, std::uint64_t bytes, std::uint64_t ticks = 0);
  void AddTime(const OpenNode& node, Tick end);
  std::uint32_t& LeafOf(const Block& block);
  std::uint32_t LeafFor(const AllocateEvent& event);

  ThreadChoice thread_;
  const TreeCalls calls_;
  CalledCodes codes_;
  std::function<void(const ReplayState&)> done_;
  MergedTree tree_;
  OpenNodes open_;
  ForwardLinks links_;
  std::vector<std::uint32_t> leaf_of_slot_;
  std::uint32_t leaf_of_late_block_ = kNotFollowed;
  std::set<DeviceId> devices_;  // devices of the current process with live bytes
  Tick opened_ = 0;             // begin of the current window
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_TREE_MERGED_TREE_PASS_H_
