// Out-of-memory errors of torch's CUDA allocator, the driver and libraries: what requested how many bytes, the owners
// of the used memory, what was free and why the request could not use it, and what had grown since the step before.
#ifndef TOOLS_ANALYZE_OOM_OUT_OF_MEMORY_H_
#define TOOLS_ANALYZE_OOM_OUT_OF_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/driver/refusal.h"
#include "tools/analyze/grouping/holdings.h"
#include "tools/analyze/grouping/source_lines.h"
#include "tools/analyze/oom/input_growth.h"
#include "tools/analyze/oom/out_of_memory_growth.h"
#include "tools/analyze/oom/out_of_memory_leaks.h"
#include "tools/analyze/oom/out_of_memory_room.h"
#include "tools/analyze/pass/loop_position.h"
#include "tools/analyze/pass/options.h"
#include "tools/model/capture.h"

namespace memoir {

struct OutOfMemory {
  std::string device;
  ProcessId process;
  std::optional<std::uint32_t> rank;  // empty: of no rank
  std::uint64_t ns = 0;
  std::optional<Refusal> refusal;  // empty: torch's caching allocator's own; else `room` has no cause, and sums alone
  std::uint64_t asked_bytes = 0;   // as the allocator rounded them; of a refusal 0: the call does not say
  std::uint64_t device_free = 0;   // as the driver said
  bool device_free_known = true;
  std::optional<std::uint64_t> device_limit;  // what torch's allocator may reserve; empty: not known
  std::string operator_name;                  // "" outside of any, as the next four
  std::string leaf_name;                      // innermost range
  SourceLine line;                            // whose it is: in backward that of the forward operator
  SourceLine backward_line;                   // then: where backward was called
  std::string range_name;                     // innermost user range
  std::string module;                         // path, or the root where that is empty
  std::string module_class;
  Phase phase = Phase::kOther;
  std::optional<std::uint64_t> step;
  std::uint64_t optimizer_steps = 0;  // that had ended
  std::uint64_t allocated_bytes = 0;
  std::uint64_t active_bytes = 0;
  std::uint64_t reserved_bytes = 0;
  // Outside of torch's allocator; empty where that is not recorded.
  std::optional<std::vector<Holder>> outside;
  std::optional<std::uint64_t> other_processes;  // by the last reading of the device, as the next
  std::optional<std::uint64_t> device_total;
  // Used of the device, but by nobody that is known; 0: too little to say, or not known.
  std::uint64_t unaccounted = 0;
  std::vector<Holder> pinned;       // of a refusal of host memory: who has pinned how much
  std::vector<Holder> by_operator;  // of allocated bytes, largest first
  std::vector<Holder> by_module;
  std::vector<Holder> by_category;  // by Memoir's rules (categories/rules.h)
  Room room;
  Growth growth;
  std::optional<Leaking> leaking;             // empty: nothing is kept more in every step, or not known
  std::optional<FittingInput> fitting_input;  // empty: not known, or no smaller input would have helped
  // Of this kind, which came after the error: the program had caught it. Empty and 0 where no step was recorded.
  std::optional<StepKind> step_kind;
  std::uint64_t steps_after = 0;

  // Whether torch asked for its tensors on the device, by its caching allocator or without one.
  bool asks_for_tensors() const {
    return !refusal || (!refusal->of_host && refusal->library.starts_with("libc10_cuda"));
  }
};

// For whoever knows that there are such errors: finding that out takes less (Summary::refusals, DeviceRow::num_ooms).
// In order: processes one after another, each in time. Of more than `most` only the newest of the last processes.
inline constexpr std::size_t kMostOutOfMemory = 256;
absl::StatusOr<std::vector<OutOfMemory>> AnalyzeOutOfMemory(const Capture& capture, const Selection& selection,
                                                            std::size_t most = kMostOutOfMemory);

// The one that a job is told of: where several processes ran out, the one after whose last error the others' came. Not
// of none.
const OutOfMemory& DecisiveError(const std::vector<OutOfMemory>& errors);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_OOM_OUT_OF_MEMORY_H_
