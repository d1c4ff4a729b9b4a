#include "tools/follow/cpu_budget.h"

#include <algorithm>

namespace memoir {

void CpuBudget::AdvanceTo(std::uint64_t now_ns) {
  const std::uint64_t passed = last_ns_ == 0 || now_ns < last_ns_ ? 0 : now_ns - last_ns_;
  last_ns_ = now_ns;
  const auto most = std::max(saved_ns_, static_cast<std::int64_t>(share_ * kMostSavedNs));
  saved_ns_ = std::min(saved_ns_ + static_cast<std::int64_t>(share_ * static_cast<double>(passed)), most);
  const auto needed = static_cast<std::int64_t>(full_cost_ns_ * chunks_of_step_);
  const auto enough = std::min(needed, static_cast<std::int64_t>(share_ * kMostSavedNs * 0.9));
  if (!full_ && saved_ns_ > enough) full_ = true;
}

void CpuBudget::Spend(std::uint64_t cpu_ns, bool in_full) {
  if (in_full) full_cost_ns_ = cpu_ns;
  const auto least = -static_cast<std::int64_t>(share_ * kMostOwedNs);
  saved_ns_ = std::max(saved_ns_ - static_cast<std::int64_t>(cpu_ns), least);
  if (saved_ns_ <= 0) full_ = false;
}

}  // namespace memoir
