// Out-of-memory errors of torch's CUDA allocator, the driver and libraries. The description of an error contains the
// refused request, the owners of the used memory, the free memory, the reason why the request could not use it, and the
// growth since the previous step.
#ifndef TOOLS_ANALYZE_OOM_OUT_OF_MEMORY_H_
#define TOOLS_ANALYZE_OOM_OUT_OF_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/analyze/driver/refusal.h"
#include "tools/analyze/grouping/holdings.h"
#include "tools/analyze/grouping/source_lines.h"
#include "tools/analyze/oom/fitting_input.h"
#include "tools/analyze/oom/line_holdings.h"
#include "tools/analyze/oom/out_of_memory_growth.h"
#include "tools/analyze/oom/out_of_memory_leaks.h"
#include "tools/analyze/oom/out_of_memory_room.h"
#include "tools/analyze/pass/loop_position.h"
#include "tools/model/capture.h"

namespace memoir {

inline constexpr std::size_t kMostOutOfMemory = 256;  // most errors that an analysis returns

struct OutOfMemory {
  std::string device;
  ProcessId process;
  std::optional<std::uint32_t> rank;  // empty: the process has no rank
  std::uint64_t ns = 0;
  // Set for a request outside of torch's caching allocator. The cause in `room` is then kRefused. Empty for an error of
  // torch's caching allocator.
  std::optional<Refusal> refusal;
  std::uint64_t asked_bytes = 0;  // requested bytes, rounded by the allocator; 0 if the refused call has no size
  std::uint64_t device_free = 0;  // free bytes of the device, as the driver reported them
  bool device_free_known = true;
  std::optional<std::uint64_t> device_limit;  // the most bytes that torch's allocator may reserve; empty: unknown
  std::string operator_name;                  // outermost operator; empty: outside of operators
  std::string leaf_name;                      // innermost range; empty: outside of ranges
  SourceLine line;                            // line of the request; in backward the forward operator's line
  SourceLine backward_line;                   // in backward: the line that called backward
  std::string range_name;                     // innermost user range; empty: outside of user ranges
  std::string module;                         // path, or the root if the path is empty; empty: outside of modules
  std::string module_class;
  Phase phase = Phase::kOther;
  std::optional<std::uint64_t> step;  // number of the newest memoir.step(); empty: no step had begun
  std::uint64_t optimizer_steps = 0;  // optimizer steps that had ended
  std::uint64_t allocated_bytes = 0;
  std::uint64_t active_bytes = 0;
  std::uint64_t reserved_bytes = 0;
  // Owners of memory outside of torch's allocator. nullopt if driver allocations were not recorded.
  std::optional<std::vector<HoldingRow>> outside;
  std::optional<std::uint64_t> other_processes;  // bytes used by other processes, in the newest device sample
  std::optional<std::uint64_t> device_total;     // capacity of the device, in the newest device sample
  // Used bytes of the device without a known owner. 0: too few to report, or unknown.
  std::uint64_t unaccounted = 0;
  std::vector<HoldingRow> pinned;       // owners of pinned memory; only for a refused request for host memory
  std::vector<HoldingRow> by_operator;  // owners of allocated bytes, largest first
  std::vector<HoldingRow> by_module;
  std::vector<HoldingRow> by_category;  // by Memoir's rules (categories/rules.h)
  std::vector<LineHolding> by_line;     // by line and category
  std::uint64_t batch_bytes = 0;        // bytes of allocated blocks whose size follows the inputs (input_followers.h)
  OutOfMemoryRoom room;
  OutOfMemoryGrowth growth;
  std::optional<LeakTotals> leaking;          // empty: unknown, or no line keeps more in every step
  std::optional<FittingInput> fitting_input;  // empty: unknown, or no smaller input would have fitted
  std::uint64_t open_optimizer_steps = 0;  // calls of Optimizer.step that had not ended, such as a call with a closure
  // The kind of the program's steps; nullopt if no step was recorded. `steps_after`: number of steps that began after
  // the error, which is more than 0 only if the program caught the error.
  std::optional<StepKind> step_kind;
  std::uint64_t steps_after = 0;

  // Returns true if torch requested memory for tensors on the device, with or without its caching allocator.
  bool asks_for_tensors() const {
    return !refusal || (!refusal->of_host && refusal->library.starts_with("libc10_cuda"));
  }
};

// Returns the error that is reported for a job: the earliest of the processes' last errors. `errors` must not be empty.
const OutOfMemory& DecisiveError(const std::vector<OutOfMemory>& errors);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_OOM_OUT_OF_MEMORY_H_
