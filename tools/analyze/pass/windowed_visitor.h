// A visitor that knows whether the current event lies in the window of a selection. Analyses derive from it.
//
// Events outside of the window are shown too, since what they leave live matters inside.
#ifndef TOOLS_ANALYZE_PASS_WINDOWED_VISITOR_H_
#define TOOLS_ANALYZE_PASS_WINDOWED_VISITOR_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/analyze/pass/block_filter.h"
#include "tools/analyze/pass/options.h"
#include "tools/analyze/pass/steps.h"
#include "tools/analyze/pass/window_spans.h"
#include "tools/model/capture.h"
#include "tools/model/event.h"

namespace memoir {

class WindowedVisitor : public Visitor {
 public:
  WindowedVisitor(const Capture& capture, const Selection& selection)
      : capture_(capture), selection_(selection), filter_(selection) {}

  // After the replay: NotFound when the window, the device, the rank or such a block did not occur.
  const absl::Status& found() const { return found_; }

  // For an analysis that takes repeats: those that lie inside of a window, or outside of all.
  std::uint64_t MostRepeats(const RepeatedEvent& event) const final;

  void OnStart(const ReplayState& state) final;
  void OnEnd(const ReplayReport& report) final;
#define MEMOIR_HANDED_ON_Process(Name, EventType) void On##Name(const EventType& event) final;
#define MEMOIR_HANDED_ON_Windowed(Name, EventType) void On##Name(const EventType& event) final;
#define MEMOIR_HANDED_ON_Whole(Name, EventType)
#define MEMOIR_VISITED(Name, EventType, who) MEMOIR_HANDED_ON_##who(Name, EventType)
#include "tools/model/visited.def"
#undef MEMOIR_HANDED_ON_Process
#undef MEMOIR_HANDED_ON_Windowed

 protected:
  const Capture& capture() const { return capture_; }
  const Selection& selection() const { return selection_; }
  const ReplayState& state() const { return *state_; }
  bool in_window() const { return depth_ > 0; }
  std::uint64_t windows() const { return windows_; }
  // When the windows of the process in hand were open; complete and merged in ProcessEnds.
  const WindowSpans& spans() const { return spans_; }
  const StepCounter& steps() const { return steps_; }  // of the process in hand, so far
  bool IsSelected(DeviceId device);
  bool selects_blocks() const { return !filter_.takes_all(); }
  bool IsSelected(const Block& block) { return IsSelected(block.device) && IsChosen(block); }
  std::uint64_t Nanoseconds(const Event& event) const { return state_->Nanoseconds(event.process, event.tick); }

  // In the words of the visitor: what it has as OnX comes here as SeeX, with the window followed. What happens on
  // devices that the selection leaves out is not shown; blocks that it leaves out come as SeeOtherX.
  virtual void SeeEnd(const ReplayReport&) {}  // only when the selection was found; state() is still valid
  virtual void WindowOpens(const Event&) {}    // before the event that opens it
  virtual void WindowCloses(const Event&) {}   // after the event that closes it
  // Of blocks that the selection leaves out by their module or size, on devices that it has.
  virtual void SeeOtherAllocate(const AllocateEvent&) {}
  virtual void SeeOtherDeallocate(const DeallocateEvent&) {}
  // Of an analysis that takes repeats: whether the cycle that ended last did what one like it will do again.
  virtual bool knows_cycle() const { return true; }
  // A step begins, of any source: of an optimizer behind the event, inside the window that it closes; else before it.
  virtual void StepBegins(StepSource, const Event&) {}
#define MEMOIR_HANDED_ON_Process(Name, EventType) \
  virtual void See##Name(const EventType&) {}
#define MEMOIR_HANDED_ON_Windowed(Name, EventType) \
  virtual void See##Name(const EventType&) {}
#define MEMOIR_VISITED(Name, EventType, who) MEMOIR_HANDED_ON_##who(Name, EventType)
#include "tools/model/visited.def"
#undef MEMOIR_HANDED_ON_Process
#undef MEMOIR_HANDED_ON_Windowed
#undef MEMOIR_HANDED_ON_Whole

 private:
  bool IsChosen(const Block& block) { return filter_.takes_all() || filter_.Takes(block, state_->dictionary()); }
  void Open(const Event& event);
  void Close(const Event& event);
  void FollowTime(const Event& event) {
    if (selection_.window.kind == Window::Kind::kTime) CompareTime(event);
  }
  void CompareTime(const Event& event);
  ProcessSteps StepsOf(ProcessId process) const;
  // Opens or closes a window of steps, where steps of that source are what counts.
  void FollowSteps(StepSource source, const Event& event);
  bool IsInside(const RepeatedEvent& event) const;  // its first event would lie in a window of steps or of time
  absl::Status CheckFound() const;
  absl::Status WindowNotFound() const;

  const Capture& capture_;
  const Selection& selection_;
  BlockFilter filter_;
  const ReplayState* state_ = nullptr;
  std::uint32_t depth_ = 0;                                       // windows open now
  bool cycle_began_in_window_ = false, cycle_in_window_ = false;  // the one that ended last
  std::uint64_t opened_ns_ = 0;                                   // when the window that is open did
  WindowSpans spans_;
  std::uint64_t windows_ = 0;     // opened so far, in all processes
  std::uint64_t occurrence_ = 0;  // of the window's range in this process
  StepCounter steps_;
  // Of all processes, for the error message of a window of time.
  std::uint64_t first_ns_ = UINT64_MAX, last_ns_ = 0;
  std::uint64_t newest_step_ = 0;  // of all processes, for the error message as the next
  StepSource best_source_ = StepSource::kNone;
  std::vector<std::uint64_t> open_calls_;     // of ranges that opened a window
  std::vector<std::int8_t> device_selected_;  // by DeviceId; -1: not looked up yet
  bool any_device_ = false;
  absl::Status found_;
  std::set<std::string> range_names_;  // for the error message
};

// Replay options that suit a selection.
ReplayOptions ReplayOptionsFor(const Selection& selection, bool tensors, bool first_seen);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_PASS_WINDOWED_VISITOR_H_
