// When each step of a recording began, by what counts as a step in its process (steps.h).
#ifndef TOOLS_ANALYZE_PASS_STEP_TIMES_H_
#define TOOLS_ANALYZE_PASS_STEP_TIMES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/options.h"
#include "tools/model/capture.h"

namespace memoir {

struct StepTime {
  ProcessId process;
  std::uint64_t step = 0;  // as --steps counts them
  std::uint64_t begin_ns = 0;
  StepSource source = StepSource::kNone;
};

// In order, process by process. What comes before the first is taken for step 0, and no entry.
absl::StatusOr<std::vector<StepTime>> FindStepTimes(const Capture& capture, const Selection& selection);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_PASS_STEP_TIMES_H_
