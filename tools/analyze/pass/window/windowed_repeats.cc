// The part of WindowedVisitor that handles repeated steps which a replay does not visit (RepeatedEvent).
#include <algorithm>

#include "tools/analyze/pass/window/windowed_visitor.h"

namespace memoir {

bool WindowedVisitor::IsInside(const RepeatedEvent& event) const {
  const SelectionWindow& window = selection_.window;
  if (window.kind == SelectionWindow::Kind::kSteps && StepsOf(event.process).source == StepSource::kProgram)
    return event.first_step >= window.first_step && event.first_step < window.last_step;
  if (window.kind != SelectionWindow::Kind::kTime) return in_window();
  const std::uint64_t ns = state_->Nanoseconds(event.process, event.begin);
  return ns >= window.begin_ns && ns < window.end_ns;
}

// The replay must visit each event that opens or closes a window. So it may leave out only the repeats before such an
// event. If their number is unknown, this function returns half of the repeats. The replay then calls it again for this
// half alone, and so on, until it may leave out all repeats of a half.
std::uint64_t WindowedVisitor::MostRepeats(const RepeatedEvent& event) const {
  if (!knows_group() || IsInside(event) != in_window() || cycle_began_in_window_ != in_window() ||
      cycle_in_window_ != in_window())
    return 0;
  const SelectionWindow& window = selection_.window;
  if (window.kind == SelectionWindow::Kind::kTime) {
    const std::uint64_t begin = state_->Nanoseconds(event.process, event.begin), end = Nanoseconds(event);
    const auto lies_in = [&](std::uint64_t edge) { return begin <= edge && edge <= end; };
    return lies_in(window.begin_ns) || lies_in(window.end_ns) ? event.times / 2 : event.times;
  }
  if (window.kind != SelectionWindow::Kind::kSteps || StepsOf(event.process).source != StepSource::kProgram)
    return event.times;
  if (event.last_step - event.first_step != event.steps - 1) return event.times / 2;
  const auto before = [&](std::uint64_t edge) {
    const bool lies_in = event.first_step < edge && edge <= event.last_step;
    return lies_in ? (edge - event.first_step) * event.times / event.steps : event.times;
  };
  return std::min(before(window.first_step), before(window.last_step));
}

void WindowedVisitor::OnRepeatGroupBegin(const RepeatGroupEvent& event) {
  cycle_began_in_window_ = in_window();
  SeeRepeatGroupBegin(event);
}

void WindowedVisitor::OnRepeatGroupEnd(const RepeatGroupEvent& event) {
  cycle_in_window_ = in_window();
  SeeRepeatGroupEnd(event);
}

void WindowedVisitor::OnRepeated(const RepeatedEvent& event) {
  FollowTime(event);
  steps_.SeeRepeated(event);
  SeeRepeated(event);
}

}  // namespace memoir
