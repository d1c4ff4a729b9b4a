// The times of the window: its begin, end and duration, and the length of a tick in each process.
#ifndef TOOLS_ANALYZE_SUMMARY_PASS_WINDOW_TIMES_H_
#define TOOLS_ANALYZE_SUMMARY_PASS_WINDOW_TIMES_H_

#include <cstdint>
#include <set>
#include <vector>

#include "tools/analyze/pass/window/window_spans.h"
#include "tools/analyze/summary/pass/shared_summary_state.h"
#include "tools/model/event/event.h"

namespace memoir {

class WindowTimes {
 public:
  explicit WindowTimes(SharedSummaryState& shared) : shared_(shared) {}

  // Opens a window at the event, also in the table.
  void OpenWindow(const Event& event);
  // Closes the window at the event, also in the table.
  void CloseWindow(const Event& event);
  // Moves the window's begin to the begin of a process whose first parts were evicted.
  void AddEvictedProcess(ProcessId process);
  // Adds the windows of the process, and computes the length of its ticks.
  void EndProcess(const ProcessEvent& event);
  // Sets the number of windows and their duration.
  void FillSummary();

  double ns_per_tick(ProcessId process) const { return ns_per_tick_[process.value]; }  // call it after EndProcess

 private:
  SharedSummaryState& shared_;
  WindowSpans spans_;                // of all processes
  std::set<ProcessId> opened_;       // processes in which a window has opened
  std::vector<double> ns_per_tick_;  // by ProcessId
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_PASS_WINDOW_TIMES_H_
