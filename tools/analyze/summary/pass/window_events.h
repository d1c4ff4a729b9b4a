// The events in the window: their number, the number of their threads, and the marks.
#ifndef TOOLS_ANALYZE_SUMMARY_PASS_WINDOW_EVENTS_H_
#define TOOLS_ANALYZE_SUMMARY_PASS_WINDOW_EVENTS_H_

#include <cstdint>
#include <vector>

#include "tools/analyze/summary/pass/shared_summary_state.h"
#include "tools/model/event/event.h"

namespace memoir {

class WindowEvents {
 public:
  explicit WindowEvents(SharedSummaryState& shared) : shared_(shared) {}

  // Counts an event if it lies in the window. `recorded`: true if the recording contains the event itself.
  void CountEvent(const Event& event, bool recorded) {
    if (!shared_.in_window() || !recorded) return;
    ++shared_.summary.events;
    if (event.thread.value >= thread_has_events_.size()) AddThread(event.thread);
    thread_has_events_[event.thread.value] = true;
  }
  void AddMark(const MarkEvent& event);

  void BeginProcess() { events_before_process_ = shared_.summary.events; }
  // Adds evicted events of the current process. `events`: all events of the process before a keyframe.
  void AddEvictedEvents(std::uint64_t events);
  // Sets the numbers of events and threads.
  void FillSummary(const ReplayReport& report);

 private:
  void AddThread(ThreadId thread);

  SharedSummaryState& shared_;
  std::uint64_t events_before_process_ = 0;  // events of earlier processes
  std::vector<bool> thread_has_events_;      // by ThreadId
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_PASS_WINDOW_EVENTS_H_
