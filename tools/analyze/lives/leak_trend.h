// Whether what is kept from step to step goes on growing: told from noise, warm-up, queues and caches that are full.
#ifndef TOOLS_ANALYZE_LIVES_LEAK_TREND_H_
#define TOOLS_ANALYZE_LIVES_LEAK_TREND_H_

#include <cstdint>
#include <optional>
#include <vector>

namespace memoir {

// Steps that left something behind.
struct KeptStep {
  std::uint64_t step = 0;
  std::uint64_t bytes = 0;
};

// Fewer may be a queue, or gradients that are accumulated.
inline constexpr std::uint64_t kFewestSteps = 5;

// From which of them on nearly each step up to `end`, or regularly one of some, leaves something behind; none: they do
// not. `oldest_freed`: the steps that a block of the same place lived which is gone: what is no older may go, too.
std::optional<std::uint64_t> KeptSince(const std::vector<KeptStep>& kept, std::uint64_t end,
                                       std::uint64_t oldest_freed);

// Bytes step by step; of many steps every second, fourth, ...
class LevelSeries {
 public:
  void Add(std::uint64_t step, std::uint64_t bytes);
  struct Rise {
    std::uint64_t since = 0;  // step
    std::uint64_t steps = 0;
    std::uint64_t bytes = 0;
  };
  // Where bytes only grow, to the end.
  std::optional<Rise> Rises() const;
  // From that step on.
  std::uint64_t GrownSince(std::uint64_t step) const;

 private:
  static constexpr std::size_t kMost = 256;
  struct Level {
    std::uint64_t step = 0, bytes = 0;
  };
  std::vector<Level> levels_;
  std::uint64_t every_ = 1;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_LIVES_LEAK_TREND_H_
