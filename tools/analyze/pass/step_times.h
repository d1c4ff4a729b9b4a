// Finds the time at which each step of a recording began. Each process has its own definition of a step
// (window/step_counter.h).
#ifndef TOOLS_ANALYZE_PASS_STEP_TIMES_H_
#define TOOLS_ANALYZE_PASS_STEP_TIMES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/joint_replays.h"
#include "tools/analyze/pass/task.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/model/capture.h"

namespace memoir {

struct StepTime {
  ProcessId process;
  std::uint64_t step = 0;  // number of the step, as --steps counts
  std::uint64_t begin_ns = 0;
  StepSource source = StepSource::kNone;
};

// Returns the steps of each process in the order of time, one process after another. The time before the first step has
// no entry.
Task<absl::StatusOr<std::vector<StepTime>>> FindStepTimes(JointReplays& replays, Selection selection);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_PASS_STEP_TIMES_H_
