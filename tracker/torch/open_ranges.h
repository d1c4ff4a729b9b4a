// The ranges that a thread has begun and not ended, by the address of their RecordFunction. Lives beside the thread's
// ring slot; touched by that thread only. Of a fixed size, of which only touched pages take memory: ranges nested
// deeper are dropped and counted (their allocations are recorded, under the deepest range that is).
#ifndef TRACKER_TORCH_OPEN_RANGES_H_
#define TRACKER_TORCH_OPEN_RANGES_H_

#include <cstddef>
#include <cstdint>

#include "interpose/ring.h"

namespace memoir {

class OpenRanges {
 public:
  // The calling thread's, made at its first range with memory from the operating system; nullptr when there is none to
  // be had. Empty in a new epoch (RangeEpoch), whose depth the slot then counts.
  static OpenRanges* Of(ThreadSlot* slot, std::uint32_t epoch);

  // Not when full(). `accumulates`: a gradient.
  void Push(const void* range, bool accumulates) { ranges_[depth_++] = Entry(range, accumulates); }
  // Whether `range` is the innermost, and accumulates a gradient.
  bool Accumulates(const void* range) const { return depth_ > 0 && ranges_[depth_ - 1] == Entry(range, true); }
  // Closes `range` and whatever stands above it; false when its begin was not recorded.
  bool Pop(const void* range) {
    std::size_t i = depth_;
    while (i > 0 && (ranges_[i - 1] & ~kAccumulates) != Entry(range, false)) --i;
    if (i == 0) return false;
    depth_ = i - 1;
    return true;
  }
  std::uint16_t depth() const { return static_cast<std::uint16_t>(depth_); }
  bool full() const { return depth_ >= kMaxDepth; }

 private:
  static constexpr std::size_t kMaxDepth = 8190;
  static constexpr std::uintptr_t kAccumulates = 1;  // ranges lie at even addresses
  static std::uintptr_t Entry(const void* range, bool accumulates) {
    return reinterpret_cast<std::uintptr_t>(range) | (accumulates ? kAccumulates : 0);
  }

  std::uint32_t thread_;  // whose ranges these are: a recycled slot starts empty
  std::size_t depth_;
  std::uintptr_t ranges_[kMaxDepth];
};
static_assert(sizeof(OpenRanges) == 64 * 1024);

}  // namespace memoir

#endif  // TRACKER_TORCH_OPEN_RANGES_H_
