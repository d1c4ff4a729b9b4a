// The parts of a summary that are not rows: out-of-memory errors, bad ends and the effect of checkpointing. Few
// captures have errors or bad ends, so their analyses run only if there are signs of them.
#ifndef TOOLS_ANALYZE_SUMMARY_SUMMARY_ADDITIONS_H_
#define TOOLS_ANALYZE_SUMMARY_SUMMARY_ADDITIONS_H_

#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/analyze/categories/evidence/categorization.h"
#include "tools/analyze/checkpointing/checkpointing.h"
#include "tools/analyze/oom/out_of_memory.h"
#include "tools/analyze/pass/joint_replays.h"
#include "tools/analyze/pass/task.h"
#include "tools/analyze/summary/endings.h"
#include "tools/analyze/summary/figures/summary_figures.h"
#include "tools/analyze/summary/summary_options.h"

namespace memoir {

// Whether a recording contains failures, anywhere in its whole time.
struct FailureSigns {
  bool ran_out_of_memory = false;  // a request for memory was refused
  bool has_bad_end = false;
};

// Needs one replay of the whole recording. With the result, the analyses can start before the summary exists.
Task<FailureSigns> LookForFailures(JointReplays& replays);

// Returns true if a request for memory was refused in the window.
bool RanOutOfMemory(const Summary& summary);

class SummaryAdditions {
 public:
  enum class Checkpoints { kNever, kAfterErrors, kAlways };
  struct Wanted {
    Checkpoints checkpoints = Checkpoints::kNever;  // kAlways starts the analysis immediately
    bool errors = true;                             // find Summary::out_of_memory
    bool endings = false;                           // find Summary::endings
  };
  SummaryAdditions(SharedCategories& shared, const Selection& selection, Wanted wanted);

  // Starts the analyses of the failures that `signs` shows, as far as they are wanted.
  void Start(const FailureSigns& signs);
  // Starts the analyses that `summary` still lacks, waits for all, and fills in DeviceRow::checkpointing,
  // Summary::out_of_memory and Summary::endings. `summary` must outlive the task.
  Task<absl::Status> AddTo(Summary& summary);

 private:
  void StartCheckpointing();

  SharedCategories& shared_;
  const Selection selection_;
  const Wanted wanted_;
  std::optional<Task<absl::StatusOr<Checkpointing>>> checkpointing_;
  std::optional<Task<absl::StatusOr<std::vector<OutOfMemory>>>> errors_;
  std::optional<Task<absl::StatusOr<std::vector<Ending>>>> endings_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_SUMMARY_ADDITIONS_H_
