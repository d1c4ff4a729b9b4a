#include "tools/analyze/ranks/roles/role_windows.h"

#include <algorithm>

#include "tools/analyze/ranks/roles/usual_value.h"

namespace memoir {
RoleWindows::RoleWindows(const std::vector<RankFacts>& ranks, const std::vector<std::size_t>& members) {
  for (const std::size_t i : members) steps_ = std::max(steps_, ranks[i].window_steps);
  for (const std::size_t i : members) {
    Windows& windows = of_members_.emplace_back();
    for (const auto& [number, bytes] : ranks[i].own_by_window) {
      std::uint64_t& most = windows[number / (steps_ / ranks[i].window_steps)];
      most = std::max(most, bytes);
    }
    for (const auto& [number, bytes] : windows) all_[number].push_back(bytes);
  }
  for (const auto& [number, values] : all_) usual_[number] = MedianOf(values);
  const auto unequal = std::ranges::count_if(all_, [](const auto& window) { return AreMostlyUnequal(window.second); });
  has_unequal_members_ = 2 * static_cast<std::size_t>(unequal) > all_.size();
  if (4 * CountVarying() <= members.size()) return;
  for (const auto& [number, values] : all_) {
    if (values.size() >= kFewestOfRole) noise_ = std::max(noise_, DeviationOfMost(values));
  }
}

// Counts the members that are odd in a step, and usual again in a later step. A rank with a fault usually stays odd.
std::size_t RoleWindows::CountVarying() const {
  std::size_t varying = 0;
  for (const Windows& windows : of_members_) {
    bool was_out = false, came_back = false;
    for (const auto& [number, bytes] : windows) {
      const std::uint64_t usual = usual_.at(number);
      const bool out = ApartBy(bytes, usual) > LeastDifference(usual);
      came_back = came_back || (was_out && !out);
      was_out = was_out || out;
    }
    varying += came_back;
  }
  return varying;
}

std::uint64_t RoleWindows::FurthestOther(std::size_t member) const {
  std::uint64_t furthest = 0;
  for (std::size_t other = 0; other < of_members_.size(); ++other) {
    if (other == member) continue;
    for (const auto& [number, bytes] : of_members_[other])
      furthest = std::max(furthest, ApartBy(bytes, usual_.at(number)));
  }
  return furthest;
}

}  // namespace memoir
