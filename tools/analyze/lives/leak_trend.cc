#include "tools/analyze/lives/leak_trend.h"

#include <algorithm>
#include <array>
#include <span>

namespace memoir {
namespace {

constexpr std::size_t kQuarters = 4;

struct Quarter {
  std::uint64_t steps = 0;
  std::uint64_t bytes = 0;
};

std::array<Quarter, kQuarters> QuartersOf(std::span<const KeptStep> kept, std::uint64_t end) {
  std::array<Quarter, kQuarters> quarters;
  const std::uint64_t begin = kept.front().step;
  for (const KeptStep& step : kept) {
    Quarter& quarter = quarters[(step.step - begin) * kQuarters / (end - begin)];
    ++quarter.steps;
    quarter.bytes += step.bytes;
  }
  return quarters;
}

// Returns true if the steps from the first of `kept` up to `end` are a span of growth, as FindKeptSince defines it.
bool GoesOn(std::span<const KeptStep> kept, std::uint64_t end, std::uint64_t oldest_freed) {
  if (kept.size() < kFewestSteps) return false;
  const std::uint64_t span = end - kept.front().step;
  if (span < 2 * oldest_freed + 1) return false;
  const auto quarters = QuartersOf(kept, end);
  const std::uint64_t most = std::ranges::max(quarters, {}, &Quarter::bytes).bytes;
  const std::uint64_t fewest = std::ranges::min(quarters, {}, &Quarter::steps).steps;
  const bool dense = kept.size() * 4 >= span * 3;
  if (dense) return fewest > 0 && quarters.back().bytes * 4 >= most;
  // Only some steps of this span leave blocks behind. Each quarter of the span must contain at least two of these
  // steps.
  constexpr std::size_t kFewestSparse = 8;
  return kept.size() >= kFewestSparse && fewest > 1 && quarters.back().bytes * 2 >= most;
}

}  // namespace

std::optional<std::uint64_t> FindKeptSince(const std::vector<KeptStep>& kept, std::uint64_t end,
                                           std::uint64_t oldest_freed) {
  if (kept.empty()) return std::nullopt;
  if (GoesOn(kept, end, oldest_freed)) return kept.front().step;
  // The first steps may have left a few blocks behind, long before the steps that regularly leave blocks behind. So the
  // test is repeated for the steps after the widest gap.
  std::size_t behind_gap = 0;
  std::uint64_t widest = 0;
  for (std::size_t i = 1; i < kept.size(); ++i) {
    const std::uint64_t gap = kept[i].step - kept[i - 1].step;
    if (gap > widest) behind_gap = i;
    widest = std::max(widest, gap);
  }
  if (behind_gap == 0 || !GoesOn(std::span(kept).subspan(behind_gap), end, oldest_freed)) return std::nullopt;
  return kept[behind_gap].step;
}

void LevelSeries::Add(std::uint64_t step, std::uint64_t bytes) {
  if (step % every_ != 0) return;
  levels_.push_back({step, bytes});
  if (levels_.size() < kMost) return;
  every_ *= 2;
  std::erase_if(levels_, [this](const Level& level) { return level.step % every_ != 0; });
}

bool LevelSeries::GrowsInEachQuarter(std::size_t first) const {
  const std::size_t last = levels_.size() - 1;
  for (std::size_t quarter = 0; quarter < kQuarters; ++quarter) {
    const std::size_t begin = first + (last - first) * quarter / kQuarters;
    const std::size_t end = first + (last - first) * (quarter + 1) / kQuarters;
    if (levels_[begin].bytes >= levels_[end].bytes) return false;
  }
  return true;
}

std::optional<LevelSeries::Rise> LevelSeries::FindRise() const {
  constexpr std::size_t kFewestLevels = 8;
  const std::size_t count = levels_.size();
  if (count < kFewestLevels) return std::nullopt;
  std::size_t first = count - 1;
  while (first > 0 && levels_[first - 1].bytes <= levels_[first].bytes) --first;
  // The rise must cover the newest three quarters of the series. If bytes fell in this time, they may fall again.
  if (first > count / kQuarters) return std::nullopt;
  if (!GrowsInEachQuarter(first)) return std::nullopt;
  return Rise{levels_[first].step, levels_.back().step - levels_[first].step,
              levels_.back().bytes - levels_[first].bytes};
}

std::uint64_t LevelSeries::RiseSince(std::uint64_t step) const {
  const auto first = std::ranges::find_if(levels_, [step](const Level& level) { return level.step >= step; });
  return first == levels_.end() ? 0 : levels_.back().bytes - std::min(levels_.back().bytes, first->bytes);
}

bool LevelSeries::GrowsFrom(std::uint64_t step) const {
  const auto first = std::ranges::find_if(levels_, [step](const Level& level) { return level.step >= step; });
  if (first == levels_.end() || !GrowsInEachQuarter(static_cast<std::size_t>(first - levels_.begin()))) return false;
  return levels_.back().bytes - first->bytes >= first->bytes / 10;
}

}  // namespace memoir
