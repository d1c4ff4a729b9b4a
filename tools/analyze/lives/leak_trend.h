// Decides whether the memory that a program keeps from step to step grows without end. Noise, warm-up, queues of a
// fixed length and caches that stop growing are not such growth.
#ifndef TOOLS_ANALYZE_LIVES_LEAK_TREND_H_
#define TOOLS_ANALYZE_LIVES_LEAK_TREND_H_

#include <cstdint>
#include <optional>
#include <vector>

namespace memoir {

// A step, and the bytes of its blocks that are still live.
struct KeptStep {
  std::uint64_t step = 0;
  std::uint64_t bytes = 0;
};

// If blocks of fewer steps are live, they do not count as growth, because they may belong to a queue, or be gradients
// that the program accumulates.
inline constexpr std::uint64_t kFewestSteps = 5;

// Returns the first step of a span of steps that ends at `end` and grows. In such a span, at least three quarters of
// the steps left blocks behind, or at least two steps in each quarter of the span. nullopt if there is no such span.
// `oldest_freed`: the longest life, in steps, of a freed block from the same place in the program. The span must be
// more than twice as long, because younger live blocks may still be freed.
std::optional<std::uint64_t> FindKeptSince(const std::vector<KeptStep>& kept, std::uint64_t end,
                                           std::uint64_t oldest_freed);

// A series of bytes, one value for each step. If there are many steps, only every second, fourth, ... step is stored.
class LevelSeries {
 public:
  void Add(std::uint64_t step, std::uint64_t bytes);
  struct Rise {
    std::uint64_t since = 0;  // the step since which bytes grow
    std::uint64_t steps = 0;
    std::uint64_t bytes = 0;
  };
  // Returns the growth since bytes last fell. nullopt if the growth covers less than three quarters of the series, or
  // if bytes do not grow in each quarter of its steps.
  std::optional<Rise> FindRise() const;
  // Returns the growth in bytes from `step` on. 0 if bytes fell.
  std::uint64_t RiseSince(std::uint64_t step) const;
  // Returns true if bytes grow by at least a tenth from `step` on, and grow in each quarter of the steps since then.
  bool GrowsFrom(std::uint64_t step) const;

 private:
  bool GrowsInEachQuarter(std::size_t first) const;  // `first`: an index in levels_

  static constexpr std::size_t kMost = 256;
  struct Level {
    std::uint64_t step = 0, bytes = 0;
  };
  std::vector<Level> levels_;
  std::uint64_t every_ = 1;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_LIVES_LEAK_TREND_H_
