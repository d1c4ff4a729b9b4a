#include "tools/analyze/pass/loop_position.h"

namespace memoir {
namespace {

bool IsOutermostOperator(const OpenRange& range) {
  return range.is_operator && range.outermost_operator == static_cast<std::int32_t>(range.depth);
}

}  // namespace

std::string_view ToString(StepKind kind) {
  switch (kind) {
    case StepKind::kStep:
      return "step";
    case StepKind::kOptimizer:
      return "optimizer step";
    case StepKind::kModuleCall:
      return "module call";
  }
  return "step";
}

StepKind LoopClock::Begin(StepKind kind) {
  const auto at = static_cast<std::size_t>(kind);
  ++steps_[at];
  occurrences_[at].clear();
  return kind;
}

const LoopClock::Positions* LoopClock::SeeRangeBegin(const RangeBeginEvent& event) {
  const OpenRange& range = *event.range;
  if (event.before || !IsOutermostOperator(range)) return nullptr;
  Positions& positions = running_[event.thread];
  for (std::size_t at = 0; at < kStepKinds; ++at) {
    const std::uint64_t occurrence = ++occurrences_[at][{range.name, range.module, range.phase}];
    positions[at] = {static_cast<StepKind>(at), steps_[at], range.name, range.module, range.phase, occurrence};
  }
  return &positions;
}

std::optional<StepKind> LoopClock::SeeRangeEnd(const RangeEndEvent& event, std::string_view name) {
  if (IsOutermostOperator(*event.range)) running_.erase(event.thread);
  if (!event.range->role.optimizer || !name.starts_with("Optimizer.step#")) return std::nullopt;
  return Begin(StepKind::kOptimizer);
}

std::optional<StepKind> LoopClock::SeeModuleEnter(const ModuleEvent& event) {
  const bool outermost = event.depth == 0 && event.phase == Phase::kForward && !event.again && !event.of_gradient;
  if (!outermost) return std::nullopt;
  return Begin(StepKind::kModuleCall);
}

StepKind LoopClock::SeeStep() { return Begin(StepKind::kStep); }

std::optional<StepKind> LoopClock::BestKind() const {
  for (const StepKind kind : {StepKind::kStep, StepKind::kOptimizer, StepKind::kModuleCall}) {
    if (steps(kind) > 0) return kind;
  }
  return std::nullopt;
}

const LoopPosition* LoopClock::RunningPosition(ThreadId thread, StepKind kind) const {
  const auto running = running_.find(thread);
  return running == running_.end() ? nullptr : &running->second[static_cast<std::size_t>(kind)];
}

}  // namespace memoir
