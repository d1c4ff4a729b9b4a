// Finds by how much allocated bytes have grown since the same operator call of the previous step. This growth explains
// why a request failed now and not in the previous step.
#ifndef TOOLS_ANALYZE_OOM_OUT_OF_MEMORY_GROWTH_H_
#define TOOLS_ANALYZE_OOM_OUT_OF_MEMORY_GROWTH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/analyze/grouping/holdings.h"
#include "tools/analyze/pass/joint_replays.h"
#include "tools/analyze/pass/loop_position.h"
#include "tools/analyze/pass/task.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/model/capture.h"

namespace memoir {

struct HoldingGrowth {
  std::string name;
  std::int64_t bytes = 0;  // growth; negative: less memory
};

struct OutOfMemoryGrowth {
  // The kind of the previous step. nullopt if no step is known.
  std::optional<StepKind> kind;
  bool first = false;  // the error occurred in the first step, so there is no previous step
  // True: compared with the same operator call of the previous step. False: compared with the end of the previous step.
  bool same_call = false;
  bool unseen = false;                     // true: operators were not recorded in all of the previous step
  std::optional<std::uint64_t> step;       // number of the previous step, from memoir.step()
  std::uint64_t ns = 0;                    // the instant of the comparison
  std::int64_t allocated = 0;              // growth of allocated bytes; the sum of each list below
  std::vector<HoldingGrowth> by_operator;  // most growth first, without rows that did not change
  std::vector<HoldingGrowth> by_module;
  std::int64_t reserved = 0;
  std::optional<std::uint64_t> asked_then;  // bytes of the same request in the previous step, as torch rounds them
};

// One error, as the first replay found it. `held` leaves out the blocks of the operator call that failed.
struct GrowthQuestion {
  ProcessId process;
  DeviceId device;
  LoopPosition position;              // kind and step are always set; the other fields only if operator_name is valid
  std::uint32_t requests_before = 0;  // allocations of the operator call on the device before the failed request
  Holdings held;
  std::uint64_t reserved = 0;
};

// Answers the questions in one replay. `growths` must have as many elements as `questions`. All arguments must outlive
// the task.
Task<absl::Status> AnalyzeOutOfMemoryGrowth(JointReplays& replays, const Selection& selection,
                                            const BlockCategories& categories,
                                            const std::vector<GrowthQuestion>& questions,
                                            std::vector<OutOfMemoryGrowth>* growths);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_OOM_OUT_OF_MEMORY_GROWTH_H_
