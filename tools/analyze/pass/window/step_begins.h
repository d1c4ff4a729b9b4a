// The steps of one process, with the time at which each step began. `--steps` uses the same numbers.
#ifndef TOOLS_ANALYZE_PASS_WINDOW_STEP_BEGINS_H_
#define TOOLS_ANALYZE_PASS_WINDOW_STEP_BEGINS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/analyze/pass/window/selection.h"
#include "tools/analyze/pass/window/step_counter.h"

namespace memoir {

struct StepBegins {
  StepSource source = StepSource::kNone;
  std::uint64_t first = 0;        // number of the first step
  std::uint64_t count = 0;        // number of existing steps; `ns` has the first of them
  std::vector<std::uint64_t> ns;  // since the start of the capture; at most 65,536
};

class StepBeginFinder {
 public:
  // Adds the newest step of a source, unless it was already added, for example when the window opened.
  void Add(StepSource source, const StepCounter& steps, std::uint64_t ns);
  // Adds the newest step of each source, which runs when a window opens at `ns`.
  void AddRunning(const StepCounter& steps, std::uint64_t ns);
  // Adds step 0, if the source has no step yet.
  void AddZero(StepSource source, std::uint64_t ns);
  // Removes the steps that begin at `end_ns` or later: a step that begins when the window closes is not in it.
  void RemoveFrom(std::uint64_t end_ns);
  // Returns the steps of `source`, and removes them.
  StepBegins Take(StepSource source);

 private:
  struct Steps {
    std::uint64_t first = 0, last = 0, last_ns = 0, count = 0;
    std::vector<std::uint64_t> ns;  // begins of the first steps
  };
  std::array<Steps, kStepSources> steps_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_PASS_WINDOW_STEP_BEGINS_H_
