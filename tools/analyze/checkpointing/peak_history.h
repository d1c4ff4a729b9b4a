// Finds the most live bytes that a device has had since a given earlier instant, without storing all values.
//
// An instant is the number of changes of the live bytes so far. An instant is stored only if all later instants have
// fewer live bytes, so the stored live bytes fall from the oldest instant to the newest:
//
//     live │ *
//          │   *    .       * stored, . a later instant has at least as many bytes
//          │     .    *
//          └──────────────► instant
#ifndef TOOLS_ANALYZE_CHECKPOINTING_PEAK_HISTORY_H_
#define TOOLS_ANALYZE_CHECKPOINTING_PEAK_HISTORY_H_

#include <algorithm>
#include <cstdint>
#include <vector>

namespace memoir {

class PeakHistory {
 public:
  using Instant = std::uint64_t;

  Instant now() const { return now_; }
  std::uint64_t live() const { return heights_.back().live; }
  void Change(std::uint64_t live) {
    ++now_;
    while (!heights_.empty() && heights_.back().live <= live) heights_.pop_back();
    heights_.push_back({now_, live});
  }
  // Returns the most live bytes from `begin` on, inclusive. 0 if `begin` lies in the future.
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

#endif  // TOOLS_ANALYZE_CHECKPOINTING_PEAK_HISTORY_H_
