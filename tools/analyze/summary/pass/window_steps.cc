#include "tools/analyze/summary/pass/window_steps.h"

#include <algorithm>
#include <utility>

namespace memoir {

void WindowSteps::BeginStep(StepSource source) {
  counts_[static_cast<std::size_t>(source)] += shared_.in_window();
  if (source == StepSource::kProgram) step_is_empty_ = true;
}

void WindowSteps::EndProcess(ProcessId process) {
  const StepSource source = shared_.window.steps().source();
  sources_[process] = source;
  shared_.summary.step_source = std::max(shared_.summary.step_source, source);
  shared_.summary.steps += counts_[static_cast<std::size_t>(source)];
  counts_ = {};
  last_step_has_blocks_ |= source == StepSource::kProgram && !std::exchange(step_is_empty_, false);
}

void WindowSteps::FillSummary() {
  const Summary& summary = shared_.summary;
  const Selection& selection = shared_.window.selection();
  shared_.summary.last_step_is_empty = summary.step_source == StepSource::kProgram && summary.steps > 1 &&
                                       !shared_.selects_window() && selection.takes_all_blocks() && !selection.device &&
                                       !last_step_has_blocks_;
}

}  // namespace memoir
