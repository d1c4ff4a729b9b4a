// Decides whether the memory that is live at the begin of each step keeps growing, as opposed to noise, warm-up and
// caches that fill. Only the minimum of each group of neighboring steps is examined (LevelSeries in
// lives/leak_trend.h), because noise in single steps does not change a minimum.
//
// A level is the minimum of one or more neighboring steps; the number of stored levels is bounded. FindGrowth()
// examines all steps, then the newer half of them, then the newest quarter, and so on, until it finds growth.
#ifndef TOOLS_ANALYZE_LIVE_GROWTH_SERIES_H_
#define TOOLS_ANALYZE_LIVE_GROWTH_SERIES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace memoir {

struct LiveGrowth {
  std::uint64_t since_step = 0;  // the program's number of the first step of the growth
  std::uint64_t steps = 0;       // number of steps since then
  std::uint64_t bytes = 0;       // growth in these steps
  double bytes_per_step = 0;     // average growth per step in the newer half of the examined steps
};

class GrowthSeries {
 public:
  // Adds the live bytes at the begin of a step.
  void Add(std::uint64_t step, std::uint64_t bytes);
  void Clear() { *this = {}; }
  // Returns the growth in the longest examined span of steps in which memory clearly grows. nullopt if there is no such
  // span.
  std::optional<LiveGrowth> FindGrowth() const;

 private:
  static constexpr std::size_t kMostLevels = 512;  // at this number, pairs of neighboring levels are merged
  static constexpr std::size_t kGroups = 16;
  struct Level {
    std::uint64_t step = 0;   // first step of the level
    std::uint64_t bytes = 0;  // minimum over the steps of the level
  };
  std::optional<LiveGrowth> FindGrowthFrom(std::size_t first) const;

  std::vector<Level> levels_;
  std::uint64_t steps_ = 0;      // number of added steps
  std::uint64_t per_level_ = 1;  // steps in each level
  std::uint64_t newest_step_ = 0;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_LIVE_GROWTH_SERIES_H_
