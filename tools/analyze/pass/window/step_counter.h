// Counts the steps of a recording. A step is defined by the first of these that the recording has: memoir.step();
// torch.profiler's steps; calls of the first optimizer, each of which ends a step; calls of the first outermost module,
// each of which begins a step. The tracker counts in the same way for `run --steps`
// (tracker/session/control/recording_windows.h), but without modules.
//
// Everything before the first step counts as step 0, unless memoir.step() or torch.profiler itself gives the first step
// the number 0.
#ifndef TOOLS_ANALYZE_PASS_WINDOW_STEP_COUNTER_H_
#define TOOLS_ANALYZE_PASS_WINDOW_STEP_COUNTER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/model/capture.h"
#include "tools/model/event/event.h"

namespace memoir {

// "", "step", "profiler_step", "optimizer_step", "module_call"
std::string_view ToString(StepSource source);

// Counts the steps of one process. Pass it the events in replay order. SeeStep, SeeRangeBegin, SeeRangeEnd and
// SeeModuleEnter return the source whose next step begins with the event. kNone if no step begins. An optimizer's step
// begins after the event; the event of any other source belongs to the step that it begins.
class StepCounter {
 public:
  StepSource SeeStep(const StepEvent& event) { return Begin(StepSource::kProgram, event.step); }
  void SeeRepeated(const RepeatedEvent& event);
  StepSource SeeRangeBegin(const RangeBeginEvent& event, const Dictionary& dictionary);
  StepSource SeeRangeEnd(const RangeEndEvent& event, const Dictionary& dictionary);
  // `stack`: the open ranges of the event's thread.
  StepSource SeeModuleEnter(const ModuleEvent& event, const RangeStack& stack);

  // Returns the source that defines the steps so far. kNone if no step has begun.
  StepSource source() const;
  // Returns how many steps of a source have begun.
  std::uint64_t begun(StepSource source) const { return steps_of(source).begun; }
  // Returns the number of the source's first step. 0 if no step has begun.
  std::uint64_t first(StepSource source) const { return steps_of(source).first; }
  // Returns the number of the source's newest step. 0 if no step has begun.
  std::uint64_t newest(StepSource source) const { return steps_of(source).newest; }
  // Returns the definition of a step for Selection::steps. Call it at the end of the process.
  ProcessSteps found_steps() const;

 private:
  struct Steps {
    std::uint64_t begun = 0, first = 0, newest = 0;
  };
  const Steps& steps_of(StepSource source) const { return steps_[static_cast<std::size_t>(source)]; }
  StepSource Begin(StepSource source, std::uint64_t step);

  std::array<Steps, kStepSources> steps_;
  NameId optimizer_;  // range of the first optimizer; invalid: no optimizer so far
  ModuleId module_;   // the first outermost module; invalid: no module so far
};

// If the selection is by steps, replays the capture and fills in Selection::steps. Otherwise does nothing.
absl::Status FindSteps(const Capture& capture, Selection& selection);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_PASS_WINDOW_STEP_COUNTER_H_
