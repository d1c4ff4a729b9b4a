#include "tracker/torch/open_ranges.h"

#include <sys/mman.h>

namespace memoir {

OpenRanges* OpenRanges::Of(ThreadSlot* slot, std::uint32_t epoch) {
  auto* ranges = reinterpret_cast<OpenRanges*>(slot->scratch);
  if (ranges == nullptr) [[unlikely]] {
    // Kept for the slot's next thread: there are at most as many as slots, and late hooks may still look at it.
    // Unmapped with the ring.
    void* page =
        mmap(nullptr, sizeof(OpenRanges), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (page == MAP_FAILED) return nullptr;
    ranges = static_cast<OpenRanges*>(page);
    slot->scratch_bytes = sizeof(OpenRanges);
    slot->scratch = reinterpret_cast<std::uint64_t>(page);
  }
  if (ranges->thread_ != slot->thread || slot->range_epoch != epoch) [[unlikely]] {
    ranges->thread_ = slot->thread;
    ranges->depth_ = 0;
    slot->range_epoch = epoch;
    slot->depth = 0;
  }
  return ranges;
}

}  // namespace memoir
