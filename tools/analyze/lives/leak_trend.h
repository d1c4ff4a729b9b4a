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

// Returns the first step of a span of growth: steps that end before step `end`, and regularly leave blocks behind.
// nullopt if there is no such span. `kept`: the steps that left blocks behind. `oldest_freed`: the longest life, in
// steps, of a freed block from the same place in the program. A span of growth fulfills these conditions:
// - At least three quarters of its steps left blocks behind, or at least two steps in each of its quarters. In any case
//   these are at least kFewestSteps steps.
// - The blocks of its last quarter have at least a fourth of the bytes of its largest quarter. If fewer than three
//   quarters of the steps left blocks behind, they have at least half of these bytes.
// - It is more than twice as long as `oldest_freed`, because younger live blocks may still be freed.
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
  // Returns the growth since bytes last fell. nullopt if the series is short, if the growth covers less than three
  // quarters of the series, or if bytes do not grow in each quarter of the growth.
  std::optional<Rise> FindRise() const;
  // Returns the growth in bytes from `step` on. 0 if bytes fell.
  std::uint64_t RiseSince(std::uint64_t step) const;
  // Returns true if bytes grow by at least a tenth from `step` on, and grow in each quarter of the steps since then.
  bool GrowsFrom(std::uint64_t step) const;

 private:
  // `first`: the index in levels_ of the first level to examine.
  bool GrowsInEachQuarter(std::size_t first) const;

  static constexpr std::size_t kMost = 256;
  struct Level {
    std::uint64_t step = 0, bytes = 0;
  };
  std::vector<Level> levels_;
  std::uint64_t every_ = 1;  // only steps whose number is a multiple of this are stored
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_LIVES_LEAK_TREND_H_
