#include "tools/view/summary/steps_text.h"

#include "tools/view/capture/step_count_text.h"

namespace memoir {

std::string StepsText(const Summary& summary) {
  const bool repeats = summary.steps > 1 || summary.step_source != StepSource::kModule;
  if (summary.steps == 0 || !repeats) return "";
  return StepCountText(summary.steps, summary.step_source) +
         (summary.last_step_is_empty ? " (in the last one nothing was allocated)" : "");
}

}  // namespace memoir
