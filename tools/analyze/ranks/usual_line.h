// What is usual among members of a role, and how far from it is still in line.
#ifndef TOOLS_ANALYZE_RANKS_USUAL_LINE_H_
#define TOOLS_ANALYZE_RANKS_USUAL_LINE_H_

#include <cstdint>
#include <vector>

namespace memoir {

inline std::uint64_t ApartBy(std::uint64_t a, std::uint64_t b) { return a > b ? a - b : b - a; }

struct UsualLine {
  std::uint64_t usual = 0, tolerance = 0;
  bool Leaves(std::uint64_t value) const { return ApartBy(value, usual) > tolerance; }
  // For members whose data differ by that much.
  void Widen(std::uint64_t deviation);
};

// The lower one of two; of none 0.
std::uint64_t MedianOf(std::vector<std::uint64_t> values);

// `by_kinds`: members may be of several stages, a half of them each. Then three quarters of the deviations are what is
// healthy, and not a half.
UsualLine LineOf(const std::vector<std::uint64_t>& values, bool by_kinds, std::uint64_t percent, std::uint64_t floor);

// How far four fifths of them are from their median, or all but one of fewer than ten: what a few odd ones do not move.
std::uint64_t DeviationOfMost(const std::vector<std::uint64_t>& values);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_RANKS_USUAL_LINE_H_
