// The most that was live since an earlier instant, of one device, without keeping the whole curve.
//
// Instants are a running number of changes. Kept are those that nothing since has reached again, which fall from the
// oldest to the newest:
//
//     live │ *
//          │   *    .       * kept, . passed by a later one
//          │     .    *
//          └──────────────► instant
#ifndef TOOLS_ANALYZE_CHECKPOINTING_LIVE_HEIGHTS_H_
#define TOOLS_ANALYZE_CHECKPOINTING_LIVE_HEIGHTS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

namespace memoir {

class LiveHeights {
 public:
  using Instant = std::uint64_t;

  Instant now() const { return now_; }
  std::uint64_t live() const { return heights_.back().live; }
  void Change(std::uint64_t live) {
    ++now_;
    while (!heights_.empty() && heights_.back().live <= live) heights_.pop_back();
    heights_.push_back({now_, live});
  }
  // From `begin` on, that instant included; 0 where it has not come yet.
  std::uint64_t MostSince(Instant begin) const {
    const auto first = std::ranges::lower_bound(heights_, begin, {}, &Height::at);
    return first == heights_.end() ? 0 : first->live;
  }

 private:
  struct Height {
    Instant at = 0;
    std::uint64_t live = 0;
  };
  Instant now_ = 0;
  std::vector<Height> heights_ = {{0, 0}};
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CHECKPOINTING_LIVE_HEIGHTS_H_
