#include "tools/analyze/pass/window/step_counter.h"

#include <algorithm>
#include <charconv>

#include "tools/analyze/pass/window/windowed_visitor.h"

namespace memoir {
namespace {

constexpr std::string_view kProfilerStep = "ProfilerStep#";
constexpr std::string_view kOptimizerStep = "Optimizer.step#";

std::optional<std::uint64_t> Number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

class StepsPass : public Visitor {
 public:
  explicit StepsPass(std::size_t processes) : found_(processes) {}
  std::vector<ProcessSteps> Take() { return std::move(found_); }

  void OnStart(const ReplayState& state) override { state_ = &state; }
  void OnProcessBegin(const ProcessEvent&) override { steps_ = {}; }
  void OnProcessEnd(const ProcessEvent& event) override { found_[event.process.value] = steps_.found_steps(); }
  bool takes_repeats() const override { return true; }
  std::uint64_t MostRepeats(const RepeatedEvent& event) const override { return event.times; }
  void OnRepeated(const RepeatedEvent& event) override { steps_.SeeRepeated(event); }
  void OnStep(const StepEvent& event) override { steps_.SeeStep(event); }
  void OnRangeBegin(const RangeBeginEvent& event) override { steps_.SeeRangeBegin(event, state_->dictionary()); }
  void OnRangeEnd(const RangeEndEvent& event) override { steps_.SeeRangeEnd(event, state_->dictionary()); }
  void OnModuleEnter(const ModuleEvent& event) override { steps_.SeeModuleEnter(event, state_->stack(event.thread)); }

 private:
  const ReplayState* state_ = nullptr;
  StepCounter steps_;
  std::vector<ProcessSteps> found_;
};

}  // namespace

std::string_view ToString(StepSource source) {
  switch (source) {
    case StepSource::kNone:
      return "";
    case StepSource::kModule:
      return "module_call";
    case StepSource::kOptimizer:
      return "optimizer_step";
    case StepSource::kProfiler:
      return "profiler_step";
    case StepSource::kProgram:
      return "step";
  }
  return "";
}

StepSource StepCounter::Begin(StepSource source, std::uint64_t step) {
  Steps& steps = steps_[static_cast<std::size_t>(source)];
  if (steps.begun++ == 0) steps.first = step;
  steps.newest = step;
  return source;
}

void StepCounter::SeeRepeated(const RepeatedEvent& event) {
  Steps& steps = steps_[static_cast<std::size_t>(StepSource::kProgram)];
  steps.begun += event.steps;
  steps.newest = event.last_step;
}

StepSource StepCounter::SeeRangeBegin(const RangeBeginEvent& event, const Dictionary& dictionary) {
  if (event.before || event.range->source != RangeSource::kUser) return StepSource::kNone;
  const std::string_view name = dictionary.text(event.range->name);
  if (!name.starts_with(kProfilerStep)) return StepSource::kNone;
  const auto step = Number(name.substr(kProfilerStep.size()));
  return step ? Begin(StepSource::kProfiler, *step) : StepSource::kNone;
}

StepSource StepCounter::SeeRangeEnd(const RangeEndEvent& event, const Dictionary& dictionary) {
  const OpenRange& range = *event.range;
  if (range.source != RangeSource::kUser || !range.name.valid()) return StepSource::kNone;
  if (!optimizer_.valid() && dictionary.text(range.name).starts_with(kOptimizerStep)) optimizer_ = range.name;
  return range.name == optimizer_ ? Begin(StepSource::kOptimizer, begun(StepSource::kOptimizer) + 1)
                                  : StepSource::kNone;
}

// Leaves out calls that the program does not make itself: calls that are recomputed for backward (`again`), and events
// of modules inside of a backward range.
StepSource StepCounter::SeeModuleEnter(const ModuleEvent& event, const RangeStack& stack) {
  if (event.depth != 0 || event.again || !event.module.valid()) return StepSource::kNone;
  const auto backward = [](const OpenRange& range) { return range.source == RangeSource::kBackward; };
  if (std::ranges::any_of(stack, backward)) return StepSource::kNone;
  if (!module_.valid()) module_ = event.module;
  return event.module == module_ ? Begin(StepSource::kModule, begun(StepSource::kModule)) : StepSource::kNone;
}

StepSource StepCounter::source() const {
  for (std::size_t i = kStepSources; i-- > 0;) {
    if (steps_[i].begun > 0) return static_cast<StepSource>(i);
  }
  return StepSource::kNone;
}

ProcessSteps StepCounter::found_steps() const {
  const StepSource best = source();
  return {best, best == StepSource::kModule || first(best) > 0};
}

absl::Status FindSteps(const Capture& capture, Selection& selection) {
  if (selection.window.kind != SelectionWindow::Kind::kSteps) return absl::OkStatus();
  StepsPass pass(capture.processes().size());
  const auto report = capture.Replay(pass, ReplayOptionsFor(selection, false, false));
  if (report.ok()) selection.steps = pass.Take();
  return report.status();
}

}  // namespace memoir
