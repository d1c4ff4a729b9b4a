#include "tools/analyze/report/report_first_pass.h"

#include <algorithm>
#include <cmath>

namespace memoir {

std::uint32_t WeightOf(std::uint64_t bytes, std::uint64_t life_ns) {
  const double weight = static_cast<double>(bytes) * static_cast<double>(life_ns);
  return weight < 1 ? 0
                    : std::min<std::uint32_t>(ReportFirstPass::kWeights - 1,
                                              static_cast<std::uint32_t>(std::log2(weight) * 16));
}

void ReportFirstPass::SeeBlockAdded(const Block& block, const Event& event) {
  const BlockBegin begun = {Nanoseconds(event), block.bytes, block.device};
  if (block.slot == Block::kNoSlot) {
    late_ = begun;
    return;
  }
  if (block.slot >= begun_.size()) begun_.resize(block.slot + std::size_t{1});
  begun_[block.slot] = begun;
}

void ReportFirstPass::SeeDeallocate(const DeallocateEvent& event) {
  now_ns_ = Nanoseconds(event);
  ChangePass::SeeDeallocate(event);
}

void ReportFirstPass::SeeProcessBegin(const ProcessEvent&) { opened_ns_ = closed_ns_ = kNever; }

void ReportFirstPass::SeeWindowOpen(const Event& event) {
  whole_.windows = std::max(whole_.windows, ++windows_[event.process]);
  opened_ns_ = std::min(opened_ns_, Nanoseconds(event));
  closed_ns_ = kNever;
  ChangePass::SeeWindowOpen(event);
}

void ReportFirstPass::SeeWindowClose(const Event& event) { closed_ns_ = std::max(opened_ns_, Nanoseconds(event)); }

// Counts only the part of the block's life that lies in the window.
void ReportFirstPass::CountWeight(BlockBegin begun, std::uint64_t end_ns) {
  if (opened_ns_ == kNever || begun.ns > closed_ns_) return;
  begun.ns = std::max(begun.ns, opened_ns_);
  end_ns = std::min(end_ns, closed_ns_);
  const auto weighed = weighed_.find(begun.device);
  if (weighed == weighed_.end()) return;
  ++weighed->second.shown.blocks;
  ++weighed->second.weights[WeightOf(begun.bytes, end_ns - std::min(end_ns, begun.ns))];
}

void ReportFirstPass::SeeBlockRemoved(const Block& block) {
  BlockBegin& begun = block.slot == Block::kNoSlot ? late_ : begun_[block.slot];
  CountWeight(begun, now_ns_);
  begun = {};
}

void ReportFirstPass::SeeChange(const Event& event, DeviceId id, Device& device) {
  if (!is_inside()) return;
  const auto [known, is_new] = weighed_.try_emplace(id);
  WeighedDevice& weighed = known->second;
  const std::uint64_t ns = Nanoseconds(event);
  if (is_new) {
    weighed.shown.process = event.process;
    weighed.shown.begin_ns = is_whole() ? ns : opened_ns_;
  }
  weighed.shown.changes = device.changes;
  weighed.shown.end_ns = std::max(weighed.shown.end_ns, ns);
  if (device.live <= weighed.shown.peak_bytes) return;
  weighed.shown.peak_bytes = device.live;
  weighed.shown.peak_change = device.changes;
}

void ReportFirstPass::SeeProcessEnd(const ProcessEvent& event) {
  const std::uint64_t end_ns = is_whole() ? Nanoseconds(event) : closed_ns_;
  for (auto& [id, weighed] : weighed_) {
    if (weighed.shown.process == event.process) weighed.shown.end_ns = std::max(weighed.shown.end_ns, end_ns);
  }
  const auto has_memory = [&](const auto& device) { return device.second.process == event.process; };
  if (std::ranges::any_of(devices(), has_memory)) {
    ++whole_.processes;
    whole_.processes_in_part += opened_ns_ != kNever;
  }
  whole_.steps = std::max(whole_.steps, steps().begun(steps().source()));
  whole_.end_ns = std::max(whole_.end_ns, Nanoseconds(event));
  for (BlockBegin& begun : begun_) {
    if (begun.device.valid()) CountWeight(begun, end_ns);
    begun = {};
  }
}

std::map<DeviceId, DeviceOutline> ReportFirstPass::ChooseBlocks(std::size_t most) {
  std::uint64_t all = 0;
  for (const auto& [id, weighed] : weighed_) all += weighed.shown.blocks;
  std::map<DeviceId, DeviceOutline> chosen;
  for (auto& [id, weighed] : weighed_) {
    DeviceOutline& shown = weighed.shown;
    const double share = static_cast<double>(shown.blocks) / static_cast<double>(std::max<std::uint64_t>(all, 1));
    const auto room = static_cast<std::uint64_t>(share * static_cast<double>(most));
    std::uint64_t kept = 0;
    shown.least_weight = kWeights;
    while (shown.least_weight > 0 && kept + weighed.weights[shown.least_weight - 1] <= room)
      kept += weighed.weights[--shown.least_weight];
    if (all <= most) shown.least_weight = 0;
    chosen[id] = shown;
  }
  return chosen;
}

}  // namespace memoir
