#include "tools/view/capture/step_count_text.h"

#include "tools/view/terminal/units.h"

namespace memoir {

std::string StepCountText(std::uint64_t steps, StepSource source) {
  switch (source) {
    case StepSource::kModule:
      return FormatCounted(steps, "call", "calls") + " of the outermost module";
    case StepSource::kOptimizer:
      return FormatCounted(steps, "optimizer step", "optimizer steps");
    case StepSource::kProfiler:
      return FormatCounted(steps, "profiler step", "profiler steps");
    default:
      return FormatCounted(steps, "step", "steps");
  }
}

}  // namespace memoir
