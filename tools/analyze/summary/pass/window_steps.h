// The steps in the window, and whether the newest step has allocated anything.
#ifndef TOOLS_ANALYZE_SUMMARY_PASS_WINDOW_STEPS_H_
#define TOOLS_ANALYZE_SUMMARY_PASS_WINDOW_STEPS_H_

#include <array>
#include <cstdint>
#include <map>

#include "tools/analyze/pass/window/selection.h"
#include "tools/analyze/summary/pass/shared_summary_state.h"

namespace memoir {

class WindowSteps {
 public:
  using Counts = std::array<std::uint64_t, kStepSources>;  // by StepSource

  explicit WindowSteps(SharedSummaryState& shared) : shared_(shared) {}

  void BeginStep(StepSource source);
  // Notes that the newest step may have allocated something.
  void NoteMemoryUse() { step_is_empty_ = false; }
  void EndProcess(ProcessId process);
  // Sets whether the last step of the recording is empty.
  void FillSummary();

  // Returns the definition of a step in a process that has ended. kNone for any other process.
  StepSource SourceOf(ProcessId process) { return sources_[process]; }
  // The steps of the current process so far.
  const Counts& counts() const { return counts_; }
  void set_counts(const Counts& counts) { counts_ = counts; }

 private:
  SharedSummaryState& shared_;
  Counts counts_{};                    // of the current process
  bool step_is_empty_ = false;         // of the current process: nothing was allocated since its newest memoir.step()
  bool last_step_has_blocks_ = false;  // some process allocated after its newest memoir.step()
  std::map<ProcessId, StepSource> sources_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_PASS_WINDOW_STEPS_H_
