// A visitor that follows whether the current event lies in a window of the selection (selection.h). Analyses derive
// from this class. The analyses also receive events outside of windows, because blocks that are allocated outside may
// be live in a window.
#ifndef TOOLS_ANALYZE_PASS_WINDOW_WINDOWED_VISITOR_H_
#define TOOLS_ANALYZE_PASS_WINDOW_WINDOWED_VISITOR_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/analyze/pass/window/block_filter.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/analyze/pass/window/step_counter.h"
#include "tools/analyze/pass/window/window_spans.h"
#include "tools/model/capture.h"
#include "tools/model/event/event.h"

namespace memoir {

class WindowedVisitor : public Visitor {
 public:
  WindowedVisitor(const Capture& capture, const Selection& selection)
      : capture_(capture), selection_(selection), filter_(selection) {}

  // Call it after the replay. NotFound if the capture lacks the selected times, device or rank, or a block with the
  // selected module or size.
  const absl::Status& selection_status() const { return found_; }

  // For an analysis that handles RepeatedEvent: returns how many repeats the replay may leave out. These repeats lie
  // inside of one window, or outside of all windows.
  std::uint64_t MostRepeats(const RepeatedEvent& event) const final;

  void OnStart(const ReplayState& state) final;
  void OnEnd(const ReplayReport& report) final;
#define MEMOIR_HANDED_ON_Process(Name, EventType) void On##Name(const EventType& event) final;
#define MEMOIR_HANDED_ON_Windowed(Name, EventType) void On##Name(const EventType& event) final;
#define MEMOIR_HANDED_ON_Whole(Name, EventType)
#define MEMOIR_VISITED(Name, EventType, who, how) MEMOIR_HANDED_ON_##who(Name, EventType)
#include "tools/model/event/visited.def"
#undef MEMOIR_HANDED_ON_Process
#undef MEMOIR_HANDED_ON_Windowed

  // An analysis, and the objects to which it passes events, may call the following functions. Call them during the
  // replay.
  const Capture& capture() const { return capture_; }
  const Selection& selection() const { return selection_; }
  const ReplayState& state() const { return *state_; }
  bool in_window() const { return depth_ > 0; }
  std::uint64_t windows() const { return windows_; }  // windows opened so far, in all processes
  // The time spans of the selection in the current process. Complete and merged at the end of the process.
  const WindowSpans& spans() const { return spans_; }
  const StepCounter& steps() const { return steps_; }  // steps of the current process, so far
  bool IsSelected(DeviceId device);
  // Returns true if the selection omits blocks by module or size.
  bool selects_blocks() const { return !filter_.selects_all(); }
  bool IsSelected(const Block& block) { return IsSelected(block.device) && IsChosen(block); }
  std::uint64_t Nanoseconds(const Event& event) const { return state_->Nanoseconds(event.process, event.tick); }

 protected:
  // The functions of a visitor, for the selected devices and blocks: an event for OnX arrives here as SeeX. Events of
  // devices that are not selected are not passed on. Events of blocks that are not selected arrive as SeeOtherX.
  virtual void SeeEnd(const ReplayReport&) {}   // called only if the selection was found; state() is still valid
  virtual void SeeWindowOpen(const Event&) {}   // called before the first event in a window
  virtual void SeeWindowClose(const Event&) {}  // called after the last event in a window
  // For blocks on selected devices that the selection omits by module or size.
  virtual void SeeOtherAllocate(const AllocateEvent&) {}
  virtual void SeeOtherDeallocate(const DeallocateEvent&) {}
  // For an analysis that handles RepeatedEvent: returns true if the next repeat group will have the same effect as the
  // newest repeat group.
  virtual bool knows_group() const { return true; }
  // Called when a step of any source begins. For an optimizer, it is called after SeeRangeEnd of the event that ends
  // the previous step, before that step's window closes. For memoir.step() it is called after SeeStep. For the other
  // sources it is called before SeeRangeBegin or SeeModuleEnter of the event that begins the step.
  virtual void SeeStepBegin(StepSource, const Event&) {}
#define MEMOIR_HANDED_ON_Process(Name, EventType) \
  virtual void See##Name(const EventType&) {}
#define MEMOIR_HANDED_ON_Windowed(Name, EventType) \
  virtual void See##Name(const EventType&) {}
#define MEMOIR_VISITED(Name, EventType, who, how) MEMOIR_HANDED_ON_##who(Name, EventType)
#include "tools/model/event/visited.def"
#undef MEMOIR_HANDED_ON_Process
#undef MEMOIR_HANDED_ON_Windowed
#undef MEMOIR_HANDED_ON_Whole

 private:
  bool IsChosen(const Block& block) { return filter_.selects_all() || filter_.Selects(block, state_->dictionary()); }
  void Open(const Event& event);
  void Close(const Event& event);
  void FollowTime(const Event& event) {
    if (selection_.window.kind == SelectionWindow::Kind::kTime) CompareTime(event);
  }
  void CompareTime(const Event& event);
  ProcessSteps StepsOf(ProcessId process) const;
  // Opens or closes a window of steps, if `source` defines the steps of the process.
  void FollowSteps(StepSource source, const Event& event);
  bool IsInside(const RepeatedEvent& event) const;  // true if the first repeated event would lie in a window
  absl::Status CheckFound() const;
  absl::Status WindowNotFound() const;

  const Capture& capture_;
  const Selection& selection_;
  BlockFilter filter_;
  const ReplayState* state_ = nullptr;
  std::uint32_t depth_ = 0;  // number of open windows
  // Whether the newest repeat group began in a window, and whether it ended in a window.
  bool cycle_began_in_window_ = false, cycle_in_window_ = false;
  std::uint64_t opened_ns_ = 0;  // begin of the open window
  WindowSpans spans_;
  std::uint64_t windows_ = 0;     // windows opened so far, in all processes
  std::uint64_t occurrence_ = 0;  // occurrences of the window's range in this process
  StepCounter steps_;
  // First and last time of all processes, for the error message if the selected time does not occur.
  std::uint64_t first_ns_ = UINT64_MAX, last_ns_ = 0;
  std::uint64_t newest_step_ = 0;               // newest step of all processes, for the error message
  StepSource best_source_ = StepSource::kNone;  // for the error message
  std::vector<std::uint64_t> open_calls_;       // OpenRange::call of ranges that opened a window
  std::vector<std::int8_t> device_selected_;    // by DeviceId; -1: not looked up yet
  bool any_device_ = false;                     // an event of a selected device was visited
  absl::Status found_;
  std::set<std::string> range_names_;  // for the error message
};

// Returns the options of a replay for a selection.
ReplayOptions ReplayOptionsFor(const Selection& selection, bool tensors, bool first_seen);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_PASS_WINDOW_WINDOWED_VISITOR_H_
