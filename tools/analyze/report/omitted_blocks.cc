#include "tools/analyze/report/omitted_blocks.h"

#include <algorithm>
#include <utility>

namespace memoir {

void OmittedBlocks::NoteAllocation(const Block& block, std::uint64_t ns) {
  if (block.slot == Block::kNoSlot) return;  // its deallocation follows immediately
  if (block.slot >= live_.size()) live_.resize(block.slot + std::size_t{1});
  live_[block.slot] = {{block.address, block.bytes, ns}, block.device};
}

void OmittedBlocks::Add(const LiveBlock& live) {
  EndedBlocks& ended = ended_[live.device];
  if (live.kept) {
    ended.kept.push_back(live.block);
  } else if (ended.all) {
    ended.others.push_back(live.block);
    ended.all = ended.others.size() <= most_;
    if (!ended.all) ended.others = {};
  }
}

void OmittedBlocks::NoteDeallocation(const Block& block, std::uint64_t ns, bool in_part) {
  if (block.slot >= live_.size() || !live_[block.slot].device.valid()) return;
  LiveBlock live = std::exchange(live_[block.slot], {});
  live.block.end_ns = ns;
  if (in_part) Add(live);
}

void OmittedBlocks::Keep(DeviceId device) {
  for (LiveBlock& live : live_) live.kept |= live.device == device;
}

void OmittedBlocks::Take(DeviceId device, std::uint64_t begin_ns, std::uint64_t end_ns, ReportDevice& shown) {
  for (LiveBlock& live : live_) {
    if (live.device == device) Add(std::exchange(live, {}));
  }
  EndedBlocks ended = std::exchange(ended_[device], {});
  shown.all_others = ended.all;
  shown.others = std::move(ended.kept);
  shown.others.insert(shown.others.end(), ended.others.begin(), ended.others.end());
  std::erase_if(shown.others, [&](const ReportOmittedBlock& block) { return block.begin_ns > end_ns; });
  for (ReportOmittedBlock& block : shown.others) {
    block.begin_ns = std::max(block.begin_ns, begin_ns);
    if (block.end_ns > end_ns) block.end_ns = ReportBlock::kLive;
  }
  std::ranges::stable_sort(shown.others, {}, &ReportOmittedBlock::begin_ns);
}

}  // namespace memoir
