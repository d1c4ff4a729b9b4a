#include "tools/analyze/fit/largest_fit.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace memoir {
namespace {

constexpr std::uint64_t kGridPoints = 9;

}  // namespace

LargestFit::LargestFit(std::uint64_t first, std::uint64_t last, std::uint64_t step)
    : first_(first), step_(step), count_((last - first) / step + 1) {}

// Returns up to kGridPoints values from the first to the last, with a constant factor between neighbours. The factor is
// constant because the answer may be anywhere in the range, and small answers are as likely as large ones.
std::vector<std::uint64_t> LargestFit::Grid() const {
  std::set<std::uint64_t> values;
  const double low = static_cast<double>(std::max<std::uint64_t>(first_, 1));
  // Computes the eighth root with square roots. The wheel must run with an old libm, which lacks the versions of pow
  // and log that a build on a newer system requires.
  static_assert(kGridPoints == 9);
  const double factor = std::sqrt(std::sqrt(std::sqrt(static_cast<double>(Value(count_ - 1)) / low)));
  double wanted = low;
  for (std::uint64_t i = 0; i < kGridPoints; ++i, wanted *= factor) {
    const auto index = std::llround((wanted - static_cast<double>(first_)) / static_cast<double>(step_));
    values.insert(Value(std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::max(index, 0LL)), 0, count_ - 1)));
  }
  values.insert({first_, Value(count_ - 1)});
  return {values.begin(), values.end()};
}

std::vector<std::uint64_t> LargestFit::ChooseValues(std::size_t most) {
  if (tried_.empty()) return Grid();
  const auto fits = largest();
  const auto fails = next_that_fails();
  if (!fits || !fails || *fails < *fits) return {};
  const std::uint64_t low = Index(*fits), high = Index(*fails);
  std::set<std::uint64_t> values;
  for (std::size_t part = 1; part <= most; ++part) {
    std::uint64_t index = low + (high - low) * part / (most + 1);
    const auto taken = [&] { return tried_.contains(Value(index)) || values.contains(Value(index)); };
    // Skips values that were already tried or chosen: first upwards, then downwards. If a value between `low` and
    // `high` was already tried, its run failed for a reason other than memory.
    while (index < high && taken()) ++index;
    if (index >= high) index = high - 1;
    while (index > low && taken()) --index;
    if (index > low) values.insert(Value(index));
  }
  return {values.begin(), values.end()};
}

void LargestFit::Add(std::uint64_t value, FitOutcome outcome) { tried_[value] = outcome; }

std::optional<std::uint64_t> LargestFit::largest() const {
  for (auto at = tried_.rbegin(); at != tried_.rend(); ++at) {
    if (at->second == FitOutcome::kFits) return at->first;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> LargestFit::next_that_fails() const {
  const auto fits = largest();
  for (auto at = fits ? tried_.upper_bound(*fits) : tried_.begin(); at != tried_.end(); ++at) {
    if (at->second == FitOutcome::kDoesNotFit) return at->first;
  }
  return std::nullopt;
}

std::vector<std::uint64_t> LargestFit::contradictions() const {
  std::vector<std::uint64_t> values;
  for (const auto& [value, outcome] : tried_) {
    if (value < largest().value_or(0) && outcome == FitOutcome::kDoesNotFit) values.push_back(value);
  }
  return values;
}

}  // namespace memoir
