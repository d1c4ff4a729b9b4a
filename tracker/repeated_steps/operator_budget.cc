#include "tracker/repeated_steps/operator_budget.h"

namespace memoir {
namespace {

constexpr std::uint64_t kWindowNs = 20 * 60'000'000'000ull;
// When the budget is spent, operators are recorded again once the spent time is below this share of the allowed time.
// The share is less than 1, so that operators are then recorded in several steps in a row.
constexpr double kAgainBelow = 0.9;

}  // namespace

// Only about the last 20 minutes count. Otherwise the time allowed in hours without new steps would add up, and Memoir
// could then record operators in all steps for hours.
bool OperatorBudget::IsSpent(std::uint64_t now_ns, std::uint64_t extents) {
  spent_ns_ += static_cast<double>(extents - extents_) * kNsPerExtent;
  extents_ = extents;
  if (now_ns - counted_from_ns_ > kWindowNs) {
    counted_from_ns_ += (now_ns - counted_from_ns_) / 2;
    spent_ns_ /= 2;
  }
  if (now_ns - begin_ns_ < limits_.unbounded_ns) return false;
  const double allowed = limits_.share * static_cast<double>(now_ns - counted_from_ns_);
  is_spent_ = spent_ns_ > (is_spent_ ? kAgainBelow * allowed : allowed);
  return is_spent_;
}

}  // namespace memoir
