#include "tracker/detail/full_budget.h"

namespace memoir {
namespace {

constexpr std::uint64_t kWindowNs = 20 * 60'000'000'000ull;
constexpr double kAgainBelow = 0.9;  // of the share: so that some steps in a row are recorded

}  // namespace

// Hours in which nothing was new are no credit for hours in which all is.
bool FullBudget::IsSpent(std::uint64_t now_ns, std::uint64_t segments) {
  spent_ns_ += static_cast<double>(segments - segments_) * kNsOfSegment;
  segments_ = segments;
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
