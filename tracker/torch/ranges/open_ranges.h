// The open ranges of a thread, each identified by an address (BeginRange in range_record.h). The list lies in the
// scratch memory of the thread's ring slot (hook_scratch.h), and only this thread uses it. The list has a fixed size,
// but pages that are not written use no memory. If kMaxDepth ranges are open, further ranges are not recorded, only
// counted. Allocations in such a range are recorded as part of the innermost range in the list.
#ifndef TRACKER_TORCH_RANGES_OPEN_RANGES_H_
#define TRACKER_TORCH_RANGES_OPEN_RANGES_H_

#include <cstddef>
#include <cstdint>

#include "interpose/ring/ring.h"

namespace memoir {

class OpenRanges {
 public:
  // Returns the open ranges of the calling thread, whose slot is `slot`; nullptr if there is no memory. The memory is
  // mapped at the thread's first range. `epoch`: the result of RangeEpoch(), which changes when the recording of ranges
  // is switched on. At the first call in a new epoch, clears the list and sets the slot's depth to 0.
  static OpenRanges* Of(ThreadSlot* slot, std::uint32_t epoch);

  // Adds a range that begins now, as the innermost range. Call it only if full() is false. `accumulates`: the range
  // belongs to an autograd node that accumulates the gradient of a parameter.
  void Push(const void* range, bool accumulates) { ranges_[depth_++] = Entry(range, accumulates); }
  // Returns true if `range` is the innermost range, and accumulates a gradient.
  bool IsAccumulating(const void* range) const { return depth_ > 0 && ranges_[depth_ - 1] == Entry(range, true); }
  // Removes `range` and all ranges inside of it. False if the list does not contain `range`, because its begin was not
  // recorded.
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

  std::uint32_t thread_;  // number of the thread to which the ranges belong; Of() clears the list for another thread
  std::size_t depth_;
  std::uintptr_t ranges_[kMaxDepth];
};
static_assert(sizeof(OpenRanges) == 64 * 1024);

}  // namespace memoir

#endif  // TRACKER_TORCH_RANGES_OPEN_RANGES_H_
