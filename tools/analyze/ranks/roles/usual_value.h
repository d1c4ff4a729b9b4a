// The usual value of a role, and the distance from it that is tolerated.
#ifndef TOOLS_ANALYZE_RANKS_ROLES_USUAL_VALUE_H_
#define TOOLS_ANALYZE_RANKS_ROLES_USUAL_VALUE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace memoir {

// Smaller roles are not judged: if two members differ, either may be the odd one.
inline constexpr std::size_t kFewestOfRole = 3;

// Returns the least difference of allocated bytes that counts: one percent, and at least 1 MiB.
std::uint64_t LeastDifference(std::uint64_t bytes);

inline std::uint64_t ApartBy(std::uint64_t a, std::uint64_t b) { return a > b ? a - b : b - a; }

struct UsualValue {
  std::uint64_t value = 0, tolerance = 0;
  bool IsOdd(std::uint64_t other) const { return ApartBy(other, value) > tolerance; }
  // Raises the tolerance to at least nine times `deviation`.
  void Widen(std::uint64_t deviation);
  // Adds `bytes` to the tolerance. Call it if the members may differ by up to `bytes` at any time.
  void Allow(std::uint64_t bytes);
};

// Returns the median; of two middle values, the lower one. 0 without values.
std::uint64_t MedianOf(std::vector<std::uint64_t> values);
// Returns true if no value occurs in at least half of the places.
bool AreMostlyUnequal(std::vector<std::uint64_t> values);
// Returns the lower quartile. 0 without values.
std::uint64_t QuarterOf(std::vector<std::uint64_t> values);

// Returns the median. The tolerance is the largest of `percent` of the median, `floor`, and nine times the median
// deviation. `by_kinds`: true if half of the members may belong to another stage. In this case the third quartile of
// the deviations is used instead of their median.
UsualValue UsualValueOf(const std::vector<std::uint64_t>& values, bool by_kinds, std::uint64_t percent,
                        std::uint64_t floor);

// Returns the distance from the median within which four fifths of the values lie. With fewer than ten values, all
// values but one lie within it. A few odd values do not change the distance.
std::uint64_t DeviationOfMost(const std::vector<std::uint64_t>& values);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_RANKS_ROLES_USUAL_VALUE_H_
