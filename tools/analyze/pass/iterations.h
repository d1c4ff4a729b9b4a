// Where each iteration of a training program has its forward pass, its backward pass and its optimizer step, by the
// modules, autograd ranges and optimizer's ranges that a replay shows.
//
// An iteration is one forward pass and what follows it, so a step that accumulates gradients over four forward passes
// is four. fw_start and fw_bw_boundary are those of torch's MemoryTracker: where the outermost module was entered and
// where it was left. A replay with ReplayOptions::modules is needed.
#ifndef TOOLS_ANALYZE_PASS_ITERATIONS_H_
#define TOOLS_ANALYZE_PASS_ITERATIONS_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/model/event.h"

namespace memoir {

struct Moment {
  std::uint64_t ns = 0;     // since the start of the capture
  std::uint64_t calls = 0;  // operator calls that had ended
  bool operator==(const Moment&) const = default;
};

// What a program does not do in it is absent: all but fw_start and fw_bw_boundary of an evaluation, fw_start where no
// module was seen.
struct Iteration {
  std::optional<Moment> fw_start;
  std::optional<Moment> fw_bw_boundary;  // the outermost module is left; without modules: the backward pass begins
  std::optional<Moment> backward_end;    // its last one, where several follow
  std::optional<Moment> optimizer_step;  // the first one begins
  std::optional<Moment> optimizer_end;   // the last one outside of a backward pass ends; not among MarkersOf
};

// The markers of an iteration that are there, by name and in the order of an iteration.
std::vector<std::pair<std::string_view, Moment>> MarkersOf(const Iteration& iteration);

// Of one process. Tell it of all events in replay order.
class IterationFinder {
 public:
  void ModuleEnters(const ModuleEvent& event, Moment now);
  void ModuleExits(const ModuleEvent& event, Moment now);
  void RangeBegins(const RangeBeginEvent& event, std::string_view name, Moment now);
  void RangeEnds(const RangeEndEvent& event, Moment now);
  std::vector<Iteration> Take() { return std::move(iterations_); }

 private:
  enum class Doing : std::uint8_t { kNothing, kForward, kBackward, kOptimizer };
  Iteration& Begin();
  Iteration& Current() { return iterations_.empty() ? Begin() : iterations_.back(); }

  Doing doing_ = Doing::kNothing;
  ModuleId first_;               // the outermost module that began the iteration in hand
  bool first_left_ = false;      // and it was left since
  std::uint64_t step_call_ = 0;  // OpenRange::call of the newest optimizer step
  std::vector<Iteration> iterations_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_PASS_ITERATIONS_H_
