#include "tools/analyze/summary/pass/window_events.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "tools/model/full_steps_note.h"
#include "tools/model/holder_note.h"

namespace memoir {
namespace {

constexpr std::size_t kMaxMarks = 1000;

// Returns the number of recorded events: those that were read, and those in evicted parts.
std::uint64_t AllEvents(const ReplayReport& report) {
  std::uint64_t events = report.events;
  for (const ReplayReport::Process& process : report.processes) events += process.counters.folded_events();
  return events;
}

}  // namespace

void WindowEvents::AddThread(ThreadId thread) { thread_has_events_.resize(thread.value + 1); }

void WindowEvents::AddMark(const MarkEvent& event) {
  const std::string_view name = shared_.dictionary().text(event.name);
  if (!shared_.in_window() || IsHolderNote(name) || IsFullStepsNote(name)) return;
  Summary& summary = shared_.summary;
  ++summary.mark_count;
  if (summary.marks.size() == kMaxMarks) return;
  summary.marks.push_back({std::string(name), shared_.window.Nanoseconds(event), event.process});
}

void WindowEvents::AddEvictedEvents(std::uint64_t events) {
  shared_.summary.events = std::max(shared_.summary.events, events_before_process_ + events);
}

void WindowEvents::FillSummary(const ReplayReport& report) {
  Summary& summary = shared_.summary;
  // The report also counts deallocations of unknown blocks, which a visitor does not receive.
  if (!shared_.selects_window() && !shared_.window.selection().device)
    summary.events = std::max(summary.events, AllEvents(report));
  summary.threads = static_cast<std::uint64_t>(std::count(thread_has_events_.begin(), thread_has_events_.end(), true));
}

}  // namespace memoir
