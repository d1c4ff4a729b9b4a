#include "tools/analyze/pass/iterations.h"

namespace memoir {
namespace {

// Of modules and ranges of autograd's, those with none of their kind around.
bool IsOutermostCall(const ModuleEvent& event) { return event.phase == Phase::kForward && event.depth == 0; }

bool IsOutermostBackward(const OpenRange& range, const RangeStack& stack) {
  if (!range.role.backward) return false;
  return range.depth == 0 || stack[range.depth - 1].innermost_backward < 0;
}

}  // namespace

std::vector<std::pair<std::string_view, Moment>> MarkersOf(const Iteration& iteration) {
  std::vector<std::pair<std::string_view, Moment>> markers;
  const auto add = [&](std::string_view name, const std::optional<Moment>& moment) {
    if (moment) markers.emplace_back(name, *moment);
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

// Parts of a model that are called one by one are one pass; the same one again is the next.
void IterationFinder::ModuleEnters(const ModuleEvent& event, Moment now) {
  if (!IsOutermostCall(event)) return;
  const bool next = doing_ != Doing::kForward || (first_left_ && event.module == first_);
  doing_ = Doing::kForward;
  if (!next) return;
  Iteration& iteration = Begin();
  first_ = event.module;
  iteration.fw_start = now;
}

void IterationFinder::ModuleExits(const ModuleEvent& event, Moment now) {
  if (!IsOutermostCall(event) || doing_ != Doing::kForward || iterations_.empty()) return;
  if (event.module == first_) first_left_ = true;
  iterations_.back().fw_bw_boundary = now;
}

void IterationFinder::RangeBegins(const RangeBeginEvent& event, std::string_view name, Moment now) {
  if (IsOutermostBackward(*event.range, *event.stack)) {
    // Without a forward pass seen in between, the last optimizer step says that another iteration has begun.
    Iteration& iteration = doing_ == Doing::kOptimizer ? Begin() : Current();
    if (!iteration.fw_bw_boundary) iteration.fw_bw_boundary = now;
    doing_ = Doing::kBackward;
  } else if (event.range->role.optimizer && name.starts_with("Optimizer.step#")) {
    Iteration& iteration = Current();
    if (!iteration.optimizer_step) iteration.optimizer_step = now;
    // One that a hook of a gradient runs does not end the backward pass.
    if (event.range->innermost_backward >= 0) return;
    doing_ = Doing::kOptimizer;
    step_call_ = event.range->call;
  }
}

void IterationFinder::RangeEnds(const RangeEndEvent& event, Moment now) {
  if (doing_ == Doing::kBackward && IsOutermostBackward(*event.range, *event.stack)) Current().backward_end = now;
  if (doing_ == Doing::kOptimizer && event.range->call == step_call_ && !iterations_.empty())
    iterations_.back().optimizer_end = now;
}

}  // namespace memoir
