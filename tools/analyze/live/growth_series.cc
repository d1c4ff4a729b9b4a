#include "tools/analyze/live/growth_series.h"

#include <algorithm>

#include "tools/analyze/lives/leak_trend.h"

namespace memoir {
namespace {

// Growth is reported only if it is at least a hundredth of the live bytes, or kLargeStep bytes per step on average.
// tools/analyze/lives/leaks.cc has the same bounds.
constexpr std::uint64_t kSmallestShare = 100;
constexpr double kLargeStep = 256 * 1024;

}  // namespace

void GrowthSeries::Add(std::uint64_t step, std::uint64_t bytes) {
  newest_step_ = step;
  if (steps_++ % per_level_ == 0) {
    levels_.push_back({step, bytes});
  } else {
    levels_.back().bytes = std::min(levels_.back().bytes, bytes);
  }
  if (levels_.size() < kMostLevels || steps_ % per_level_ != 0) return;
  std::vector<Level> merged;
  for (std::size_t i = 0; i + 1 < levels_.size(); i += 2)
    merged.push_back({levels_[i].step, std::min(levels_[i].bytes, levels_[i + 1].bytes)});
  levels_ = std::move(merged);
  per_level_ *= 2;
}

std::optional<LiveGrowth> GrowthSeries::FindGrowth() const {
  for (std::size_t part = 1; levels_.size() / part >= kGroups; part *= 2) {
    if (const auto found = FindGrowthFrom(levels_.size() - levels_.size() / part)) return found;
  }
  return std::nullopt;
}

std::optional<LiveGrowth> GrowthSeries::FindGrowthFrom(std::size_t first) const {
  const std::size_t count = levels_.size() - first;
  std::vector<Level> groups;
  LevelSeries series;
  for (std::size_t group = 0; group < kGroups; ++group) {
    const std::size_t begin = first + count * group / kGroups, end = first + count * (group + 1) / kGroups;
    Level least = levels_[begin];
    for (std::size_t i = begin; i < end; ++i) least.bytes = std::min(least.bytes, levels_[i].bytes);
    groups.push_back(least);
    series.Add(group, least.bytes);
  }
  const auto rise = series.FindRise();
  if (!rise || rise->bytes == 0) return std::nullopt;
  const Level& from = groups[static_cast<std::size_t>(rise->since)];
  const Level& half = groups[kGroups / 2];
  const Level& last = groups[kGroups - 1];
  if (last.step <= half.step || last.bytes <= half.bytes) return std::nullopt;
  // If `first` is not the first level, the newest level must exceed all levels before `first`. If it does not, the
  // program probably frees memory every few steps and allocates it again.
  const auto most = std::ranges::max_element(levels_.begin(), levels_.begin() + static_cast<std::ptrdiff_t>(first), {},
                                             &Level::bytes);
  if (first > 0 && last.bytes <= most->bytes) return std::nullopt;
  LiveGrowth growth;
  growth.since_step = from.step;
  growth.steps = newest_step_ - from.step;
  growth.bytes = rise->bytes;
  growth.bytes_per_step = static_cast<double>(last.bytes - half.bytes) / static_cast<double>(last.step - half.step);
  // The second half of the steps must have at least a fourth of the growth. If a cache fills ever more slowly, most of
  // its growth lies in the first half.
  const bool goes_on = (last.bytes - half.bytes) * 4 >= rise->bytes;
  const bool large = rise->bytes >= last.bytes / kSmallestShare || growth.bytes_per_step >= kLargeStep;
  return goes_on && large ? std::optional(growth) : std::nullopt;
}

}  // namespace memoir
