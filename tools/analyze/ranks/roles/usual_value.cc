#include "tools/analyze/ranks/roles/usual_value.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace memoir {
namespace {

constexpr std::uint64_t kDeviations = 9;

std::uint64_t Nth(std::vector<std::uint64_t> values, std::size_t index) {
  if (values.empty()) return 0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::min(values.size() - 1, index));
  std::ranges::nth_element(values, at);
  return *at;
}

std::vector<std::uint64_t> DeviationsOf(const std::vector<std::uint64_t>& values, std::uint64_t usual) {
  std::vector<std::uint64_t> deviations;
  for (const std::uint64_t value : values) deviations.push_back(ApartBy(value, usual));
  return deviations;
}

std::uint64_t Times(std::uint64_t deviation) { return kDeviations * std::min(deviation, UINT64_MAX / kDeviations); }

}  // namespace

std::uint64_t LeastDifference(std::uint64_t bytes) { return std::max(bytes / 100, std::uint64_t{1} << 20); }

void UsualValue::Widen(std::uint64_t deviation) { tolerance = std::max(tolerance, Times(deviation)); }

void UsualValue::Allow(std::uint64_t bytes) { tolerance += std::min(bytes, UINT64_MAX - tolerance); }

std::uint64_t MedianOf(std::vector<std::uint64_t> values) {
  const std::size_t count = values.size();
  return count == 0 ? 0 : Nth(std::move(values), (count - 1) / 2);
}

bool AreMostlyUnequal(std::vector<std::uint64_t> values) {
  std::ranges::sort(values);
  const std::size_t half = (values.size() + 1) / 2;
  for (std::size_t i = 0; i + half <= values.size(); ++i) {
    if (values[i] == values[i + half - 1]) return false;
  }
  return true;
}

std::uint64_t QuarterOf(std::vector<std::uint64_t> values) {
  const std::size_t count = values.size();
  return count == 0 ? 0 : Nth(std::move(values), (count - 1) / 4);
}

UsualValue UsualValueOf(const std::vector<std::uint64_t>& values, bool by_kinds, std::uint64_t percent,
                        std::uint64_t floor) {
  UsualValue usual{MedianOf(values), 0};
  usual.tolerance = std::max(usual.value / 100 * percent, floor);
  usual.Widen(Nth(DeviationsOf(values, usual.value), values.size() * (by_kinds ? 3 : 2) / 4));
  return usual;
}

std::uint64_t DeviationOfMost(const std::vector<std::uint64_t>& values) {
  if (values.size() < 2) return 0;
  return Nth(DeviationsOf(values, MedianOf(values)), std::min(values.size() - 2, values.size() * 4 / 5));
}

}  // namespace memoir
