#include "tracker/torch/ranges/open_ranges.h"

#include "tracker/stacks/hook_scratch.h"

namespace memoir {

static_assert(sizeof(OpenRanges) <= kRangesBytes);

OpenRanges* OpenRanges::Of(ThreadSlot* slot, std::uint32_t epoch) {
  auto* ranges = reinterpret_cast<OpenRanges*>(HookScratch(slot));
  if (ranges == nullptr) return nullptr;
  if (ranges->thread_ != slot->thread || slot->range_epoch != epoch) [[unlikely]] {
    ranges->thread_ = slot->thread;
    ranges->depth_ = 0;
    slot->range_epoch = epoch;
    slot->depth = 0;
  }
  return ranges;
}

}  // namespace memoir
