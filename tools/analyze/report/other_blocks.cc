#include "tools/analyze/report/other_blocks.h"

#include <algorithm>
#include <utility>

namespace memoir {

void OtherBlocks::Allocated(const Block& block, std::uint64_t ns) {
  if (block.slot == Block::kNoSlot) return;  // it ends at once
  if (block.slot >= live_.size()) live_.resize(block.slot + std::size_t{1});
  live_[block.slot] = {{block.address, block.bytes, ns}, block.device};
}

void OtherBlocks::Add(const Live& live) {
  Ended& ended = ended_[live.device];
  if (live.kept) {
    ended.kept.push_back(live.block);
  } else if (ended.all) {
    ended.others.push_back(live.block);
    ended.all = ended.others.size() <= most_;
    if (!ended.all) ended.others = {};
  }
}

void OtherBlocks::Deallocated(const Block& block, std::uint64_t ns, bool in_part) {
  if (block.slot >= live_.size() || !live_[block.slot].device.valid()) return;
  Live live = std::exchange(live_[block.slot], {});
  live.block.end_ns = ns;
  if (in_part) Add(live);
}

void OtherBlocks::Keep(DeviceId device) {
  for (Live& live : live_) live.kept |= live.device == device;
}

void OtherBlocks::Take(DeviceId device, std::uint64_t begin_ns, std::uint64_t end_ns, ReportDevice& shown) {
  for (Live& live : live_) {
    if (live.device == device) Add(std::exchange(live, {}));
  }
  Ended ended = std::exchange(ended_[device], {});
  shown.all_others = ended.all;
  shown.others = std::move(ended.kept);
  shown.others.insert(shown.others.end(), ended.others.begin(), ended.others.end());
  std::erase_if(shown.others, [&](const ReportOtherBlock& block) { return block.begin_ns > end_ns; });
  for (ReportOtherBlock& block : shown.others) {
    block.begin_ns = std::max(block.begin_ns, begin_ns);
    if (block.end_ns > end_ns) block.end_ns = ReportBlock::kLive;
  }
  std::ranges::stable_sort(shown.others, {}, &ReportOtherBlock::begin_ns);
}

}  // namespace memoir
