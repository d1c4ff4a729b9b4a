#include "tools/view/summary/steps_text.h"

#include "tools/view/terminal/units.h"

namespace memoir {

std::string StepsText(const Summary& summary) {
  switch (summary.step_source) {
    case StepSource::kModule:
      return FormatCounted(summary.steps, "call", "calls") + " of the outermost module";
    case StepSource::kOptimizer:
      return FormatCounted(summary.steps, "optimizer step", "optimizer steps");
    case StepSource::kProfiler:
      return FormatCounted(summary.steps, "profiler step", "profiler steps");
    default:
      return FormatCounted(summary.steps, "step", "steps") +
             (summary.last_step_is_empty ? " (in the last one nothing was allocated)" : "");
  }
}

}  // namespace memoir
