// Why a request failed now and not a step earlier: what is allocated more than at the same operator call of the step
// before.
#ifndef TOOLS_ANALYZE_OOM_OUT_OF_MEMORY_GROWTH_H_
#define TOOLS_ANALYZE_OOM_OUT_OF_MEMORY_GROWTH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/analyze/grouping/holdings.h"
#include "tools/analyze/pass/loop_position.h"
#include "tools/analyze/pass/options.h"
#include "tools/model/capture.h"

namespace memoir {

struct Grown {
  std::string name;
  std::int64_t bytes = 0;  // more than then; negative: less
};

struct Growth {
  // In which the step before is counted; empty: the program has no steps that are known, or this was the first.
  std::optional<StepKind> kind;
  bool first = false;                 // it was the first of them: there is nothing earlier
  bool same_call = false;             // else compared with the end of the step before, which never came to this call,
  bool unseen = false;                // or whose operators were not recorded
  std::optional<std::uint64_t> step;  // number that memoir.step() gave to the step before
  std::uint64_t ns = 0;               // when that was
  std::int64_t allocated = 0;         // bytes more; the next two sum to it
  std::vector<Grown> by_operator;     // what grew most first; without what is as it was
  std::vector<Grown> by_module;
  std::int64_t reserved = 0;
  std::optional<std::uint64_t> asked_then;  // by the same request, after rounding to 512 bytes
};

// One error, as a first replay has seen it; what is allocated is without the blocks of the operator call that asked.
struct GrowthQuestion {
  ProcessId process;
  DeviceId device;
  LoopPosition position;              // kind and step are always known; no operator_name: the rest is not
  std::uint32_t requests_before = 0;  // allocations on the device that the operator call had made
  Holdings held;
  std::uint64_t reserved = 0;
};

// Answers to the questions that have one, in another replay; `growths` as many as `questions`.
absl::Status AnalyzeGrowth(const Capture& capture, const Selection& selection, const BlockCategories& categories,
                           const std::vector<GrowthQuestion>& questions, std::vector<Growth>* growths);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_OOM_OUT_OF_MEMORY_GROWTH_H_
