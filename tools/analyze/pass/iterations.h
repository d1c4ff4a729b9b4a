// Finds the forward pass, backward pass and optimizer step in each iteration of a training program, from the modules,
// autograd ranges and optimizer ranges of a replay.
//
// An iteration is one forward pass and everything until the next forward pass. A step that accumulates gradients over
// four forward passes has four iterations. fw_start and fw_bw_boundary mean the same as in torch's MemoryTracker: the
// entry and exit of the outermost module. The replay needs ReplayOptions::modules.
#ifndef TOOLS_ANALYZE_PASS_ITERATIONS_H_
#define TOOLS_ANALYZE_PASS_ITERATIONS_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/model/event/event.h"

namespace memoir {

struct IterationInstant {
  std::uint64_t ns = 0;     // since the start of the capture
  std::uint64_t calls = 0;  // operator calls that had ended before the instant
  bool operator==(const IterationInstant&) const = default;
};

// Instants that did not occur are nullopt. An evaluation has only fw_start and fw_bw_boundary. Without modules there is
// no fw_start.
struct Iteration {
  std::optional<IterationInstant> fw_start;
  std::optional<IterationInstant>
      fw_bw_boundary;  // exit of the outermost module; without modules: begin of the backward pass
  std::optional<IterationInstant> backward_end;    // end of the last backward pass of the iteration
  std::optional<IterationInstant> optimizer_step;  // begin of the first optimizer step
  // End of the last optimizer step outside of the backward pass. MarkersOf() does not return it.
  std::optional<IterationInstant> optimizer_end;
};

// Returns the instants that occurred in the iteration, with their names, in the order of the members of Iteration.
std::vector<std::pair<std::string_view, IterationInstant>> MarkersOf(const Iteration& iteration);

// Finds the iterations of one process. Pass it all module and range events in replay order. `now`: the instant of the
// event.
class IterationFinder {
 public:
  void SeeModuleEnter(const ModuleEvent& event, IterationInstant now);
  void SeeModuleExit(const ModuleEvent& event, IterationInstant now);
  void SeeRangeBegin(const RangeBeginEvent& event, std::string_view name, IterationInstant now);
  void SeeRangeEnd(const RangeEndEvent& event, IterationInstant now);
  std::vector<Iteration> Take() { return std::move(iterations_); }

 private:
  enum class Activity : std::uint8_t { kNothing, kForward, kBackward, kOptimizer };
  Iteration& Begin();
  Iteration& Current() { return iterations_.empty() ? Begin() : iterations_.back(); }

  Activity doing_ = Activity::kNothing;
  ModuleId first_;               // the outermost module that began the current iteration
  bool first_left_ = false;      // first_ was exited after it began the iteration
  std::uint64_t step_call_ = 0;  // OpenRange::call of the newest optimizer step
  std::vector<Iteration> iterations_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_PASS_ITERATIONS_H_
