// The steps of one process in a report, each with the time at which it began.
#ifndef TOOLS_ANALYZE_REPORT_REPORT_STEPS_H_
#define TOOLS_ANALYZE_REPORT_REPORT_STEPS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/analyze/pass/window/selection.h"
#include "tools/analyze/pass/window/step_counter.h"
#include "tools/analyze/report/report_content.h"

namespace memoir {

class ReportSteps {
 public:
  // Adds the newest step of a source, unless it was already added, for example when the window opened.
  void Add(StepSource source, const StepCounter& steps, std::uint64_t ns);
  // Adds step 0, if the source has no step yet.
  void AddZero(StepSource source, std::uint64_t ns);
  // Removes the steps that begin at `end_ns` or later: a step that begins when the window closes is not in it.
  void RemoveFrom(std::uint64_t end_ns);
  // Moves the steps of `source` to `process`.
  void Take(StepSource source, ReportProcess* process);

 private:
  struct Steps {
    std::uint64_t first = 0, last = 0, last_ns = 0, count = 0;
    std::vector<std::uint64_t> ns;  // begins of the first steps
  };
  std::array<Steps, kStepSources> steps_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_REPORT_REPORT_STEPS_H_
