#include "tools/analyze/summary/pass/window_times.h"

#include <algorithm>

namespace memoir {

void WindowTimes::OpenWindow(const Event& event) {
  Summary& summary = shared_.summary;
  const std::uint64_t ns = shared_.window.Nanoseconds(event);
  summary.begin_ns = shared_.window.windows() == 0 ? ns : std::min(summary.begin_ns, ns);
  shared_.table.OpenWindow(event.process, event.tick, opened_.insert(event.process).second);
}

void WindowTimes::CloseWindow(const Event& event) {
  Summary& summary = shared_.summary;
  summary.end_ns = std::max({summary.end_ns, summary.begin_ns, shared_.window.Nanoseconds(event)});
  shared_.table.CloseWindow(event.process);
}

void WindowTimes::AddEvictedProcess(ProcessId process) {
  const std::uint64_t start_ns = shared_.window.capture().processes()[process.value].start_ns;
  shared_.summary.begin_ns = std::min(shared_.summary.begin_ns, start_ns);
}

void WindowTimes::EndProcess(const ProcessEvent& event) {
  spans_.Add(shared_.window.spans());
  const std::vector<ProcessSummary>& processes = shared_.window.capture().processes();
  const ProcessSummary& process = processes[event.process.value];
  ns_per_tick_.resize(processes.size(), 1);
  if (process.last_tick <= process.first_tick) return;
  const std::uint64_t begin = shared_.replay().Nanoseconds(event.process, process.first_tick);
  const std::uint64_t end = shared_.replay().Nanoseconds(event.process, process.last_tick);
  ns_per_tick_[event.process.value] =
      static_cast<double>(end - begin) / static_cast<double>(process.last_tick - process.first_tick);
}

void WindowTimes::FillSummary() {
  // A whole recording counts as one window, even if it has several processes.
  shared_.summary.windows = shared_.selects_window() ? shared_.window.windows() : 1;
  spans_.Merge();
  shared_.summary.duration_ns = spans_.total_ns();
}

}  // namespace memoir
