// The steps of a recording, from the first of these that it has: memoir.step(); where the program calls none,
// else calls of the first optimizer, each of which ends a step; else calls of the first outermost module, each of
// which begins one. As the recorder counts them for `run --steps` (tracker/session/windows.h), which knows no modules.
//
// What comes before the first step is taken for step 0.
#ifndef TOOLS_ANALYZE_PASS_STEPS_H_
#define TOOLS_ANALYZE_PASS_STEPS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "tools/analyze/pass/options.h"
#include "tools/model/capture.h"
#include "tools/model/event.h"

namespace memoir {

// "", "step", "profiler_step", "optimizer_step", "module_call"
std::string_view ToString(StepSource source);

// Of one process: tell it of its events in replay order. Each call returns the source whose next step begins there,
// kNone for none: with a module or a range of the profiler it begins with the event, with an optimizer behind it.
class StepCounter {
 public:
  StepSource Stepped(const StepEvent& event) { return Begin(StepSource::kProgram, event.step); }
  void Repeated(const RepeatedEvent& event);
  StepSource RangeBegins(const RangeBeginEvent& event, const Dictionary& dictionary);
  StepSource RangeEnds(const RangeEndEvent& event, const Dictionary& dictionary);
  // `stack`: what is open on the event's thread.
  StepSource ModuleEnters(const ModuleEvent& event, const RangeStack& stack);

  // The best source that has been seen.
  StepSource source() const;
  // How many steps of a source have begun, and the first and newest; of none begun, 0.
  std::uint64_t begun(StepSource source) const { return of(source).begun; }
  std::uint64_t first(StepSource source) const { return of(source).first; }
  std::uint64_t newest(StepSource source) const { return of(source).newest; }
  ProcessSteps found() const;

 private:
  struct Steps {
    std::uint64_t begun = 0, first = 0, newest = 0;
  };
  const Steps& of(StepSource source) const { return steps_[static_cast<std::size_t>(source)]; }
  StepSource Begin(StepSource source, std::uint64_t step);

  std::array<Steps, kStepSources> steps_;
  NameId optimizer_;  // the range of the one that counts; invalid: none yet
  ModuleId module_;   // likewise
};

// Fills in what counts as a step in each process; of selections by steps only, which takes a replay.
absl::Status FindSteps(const Capture& capture, Selection& selection);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_PASS_STEPS_H_
