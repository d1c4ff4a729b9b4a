#include "tools/analyze/pass/iterations.h"

namespace memoir {
namespace {

// Returns true for a forward call of a module that is not inside of another module's call.
bool IsOutermostCall(const ModuleEvent& event) { return event.phase == Phase::kForward && event.depth == 0; }

// Returns true for a range of autograd that is not inside of another one.
bool IsOutermostBackward(const OpenRange& range, const RangeStack& stack) {
  if (!range.role.backward) return false;
  return range.depth == 0 || stack[range.depth - 1].innermost_backward < 0;
}

}  // namespace

std::vector<std::pair<std::string_view, IterationInstant>> MarkersOf(const Iteration& iteration) {
  std::vector<std::pair<std::string_view, IterationInstant>> markers;
  const auto add = [&](std::string_view name, const std::optional<IterationInstant>& instant) {
    if (instant) markers.emplace_back(name, *instant);
  };
  add("fw_start", iteration.fw_start);
  add("fw_bw_boundary", iteration.fw_bw_boundary);
  add("backward_end", iteration.backward_end);
  add("optimizer_step", iteration.optimizer_step);
  return markers;
}

Iteration& IterationFinder::Begin() {
  first_ = ModuleId();
  first_left_ = false;
  return iterations_.emplace_back();
}

// If the program calls several outermost modules one after another, their calls are one forward pass. The next call of
// the first of these modules begins the next forward pass.
void IterationFinder::SeeModuleEnter(const ModuleEvent& event, IterationInstant now) {
  if (!IsOutermostCall(event)) return;
  const bool next = doing_ != Activity::kForward || (first_left_ && event.module == first_);
  doing_ = Activity::kForward;
  if (!next) return;
  Iteration& iteration = Begin();
  first_ = event.module;
  iteration.fw_start = now;
}

void IterationFinder::SeeModuleExit(const ModuleEvent& event, IterationInstant now) {
  if (!IsOutermostCall(event) || doing_ != Activity::kForward || iterations_.empty()) return;
  if (event.module == first_) first_left_ = true;
  iterations_.back().fw_bw_boundary = now;
}

void IterationFinder::SeeRangeBegin(const RangeBeginEvent& event, std::string_view name, IterationInstant now) {
  if (IsOutermostBackward(*event.range, *event.stack)) {
    // If no forward pass was seen, a backward pass after an optimizer step begins another iteration.
    Iteration& iteration = doing_ == Activity::kOptimizer ? Begin() : Current();
    if (!iteration.fw_bw_boundary) iteration.fw_bw_boundary = now;
    doing_ = Activity::kBackward;
  } else if (event.range->role.optimizer && name.starts_with("Optimizer.step#")) {
    Iteration& iteration = Current();
    if (!iteration.optimizer_step) iteration.optimizer_step = now;
    // An optimizer step in a gradient's hook does not end the backward pass.
    if (event.range->innermost_backward >= 0) return;
    doing_ = Activity::kOptimizer;
    step_call_ = event.range->call;
  }
}

void IterationFinder::SeeRangeEnd(const RangeEndEvent& event, IterationInstant now) {
  if (doing_ == Activity::kBackward && IsOutermostBackward(*event.range, *event.stack)) Current().backward_end = now;
  if (doing_ == Activity::kOptimizer && event.range->call == step_call_ && !iterations_.empty())
    iterations_.back().optimizer_end = now;
}

}  // namespace memoir
