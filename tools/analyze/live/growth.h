// Whether the memory that a program keeps at the same point of each step goes on growing, told from noise, warm-up and
// caches that fill: by the least of some neighbouring steps, which noise does not lower, and by LevelSeries' judgement.
//
// Also of recordings that go on for days: looks at the newest steps in windows of several lengths, and keeps a bounded
// number of levels.
#ifndef TOOLS_ANALYZE_LIVE_GROWTH_H_
#define TOOLS_ANALYZE_LIVE_GROWTH_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace memoir {

struct LiveGrowth {
  std::uint64_t since_step = 0;  // as the program counts
  std::uint64_t steps = 0;       // since then
  std::uint64_t bytes = 0;       // in these steps
  double bytes_per_step = 0;     // of late
};

class GrowthSeries {
 public:
  // Where a step begins: its number, and what is live.
  void Add(std::uint64_t step, std::uint64_t bytes);
  void Clear() { *this = {}; }
  // Of the longest window that grows clearly; nothing: none does.
  std::optional<LiveGrowth> Judge() const;

 private:
  static constexpr std::size_t kMostLevels = 512;  // then every second is dropped
  static constexpr std::size_t kGroups = 16;
  struct Level {
    std::uint64_t step = 0;   // its first
    std::uint64_t bytes = 0;  // the least
  };
  std::optional<LiveGrowth> JudgeFrom(std::size_t first) const;

  std::vector<Level> levels_;
  std::uint64_t steps_ = 0;      // added
  std::uint64_t per_level_ = 1;  // steps
  std::uint64_t newest_step_ = 0;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_LIVE_GROWTH_H_
