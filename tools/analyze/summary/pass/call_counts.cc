#include "tools/analyze/summary/pass/call_counts.h"

#include <algorithm>

namespace memoir {
namespace {

// Returns true if the grouping has a row with the name of the range.
bool HasRow(GroupBy by, const OpenRange& range) {
  const bool counts = by == GroupBy::kLeaf || (by == GroupBy::kOperator && range.is_operator) ||
                      (by == GroupBy::kRange && IsUserRange(range.source)) ||
                      (by == GroupBy::kRegion && range.role.region);
  return counts && range.name.valid() && !range.role.note;
}

}  // namespace

void CallCounts::CountRange(const RangeBeginEvent& event) {
  if (!shared_.in_window() || event.before) return;
  const OpenRange& range = *event.range;
  ++shared_.summary.ranges;
  shared_.summary.operator_calls += range.is_operator;
  if (!HasRow(shared_.grouping.by(), range)) return;
  if (range.name.value >= calls_.size()) calls_.resize(range.name.value + 1);
  Calls& calls = calls_[range.name.value];
  ++calls.count;
  const bool inside_operator =
      range.outermost_operator >= 0 && static_cast<std::uint32_t>(range.outermost_operator) < range.depth;
  calls.outermost += !inside_operator;
}

void CallCounts::CountModule(const ModuleEvent& event) {
  if (shared_.grouping.by() != GroupBy::kModule || !shared_.in_window()) return;
  if (event.of_gradient || event.again || !event.module.valid()) return;
  ++shared_.summary.module_calls;
  if (event.module.value >= calls_.size()) calls_.resize(event.module.value + 1);
  Calls& calls = calls_[event.module.value];
  ++calls.count;
  calls.outermost += event.depth == 0;
}

void CallCounts::BeginProcess() {
  calls_before_process_ = calls_;
  operator_calls_before_process_ = shared_.summary.operator_calls;
}

void CallCounts::AddEvictedCalls(std::uint64_t calls) {
  shared_.summary.operator_calls = std::max(shared_.summary.operator_calls, operator_calls_before_process_ + calls);
}

Calls CallCounts::InProcess(NameId name) const {
  if (!name.valid() || name.value >= calls_.size()) return {};
  const Calls before = name.value < calls_before_process_.size() ? calls_before_process_[name.value] : Calls();
  return {calls_[name.value].count - before.count, calls_[name.value].outermost - before.outermost};
}

}  // namespace memoir
