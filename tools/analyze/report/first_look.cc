#include "tools/analyze/report/first_look.h"

#include <algorithm>
#include <cmath>

namespace memoir {

std::uint32_t WeightOf(std::uint64_t bytes, std::uint64_t life_ns) {
  const double weight = static_cast<double>(bytes) * static_cast<double>(life_ns);
  return weight < 1
             ? 0
             : std::min<std::uint32_t>(FirstLook::kWeights - 1, static_cast<std::uint32_t>(std::log2(weight) * 16));
}

void FirstLook::Added(const Block& block, const Event& event) {
  const Begun begun = {Nanoseconds(event), block.bytes, block.device};
  if (block.slot == Block::kNoSlot) {
    late_ = begun;
    return;
  }
  if (block.slot >= begun_.size()) begun_.resize(block.slot + std::size_t{1});
  begun_[block.slot] = begun;
}

void FirstLook::SeeDeallocate(const DeallocateEvent& event) {
  now_ns_ = Nanoseconds(event);
  ChangePass::SeeDeallocate(event);
}

void FirstLook::CountWeight(const Begun& begun, std::uint64_t end_ns) {
  Look& look = looks_[begun.device];
  ++look.shown.blocks;
  ++look.weights[WeightOf(begun.bytes, end_ns - std::min(end_ns, begun.ns))];
}

void FirstLook::Removed(const Block& block) {
  Begun& begun = block.slot == Block::kNoSlot ? late_ : begun_[block.slot];
  CountWeight(begun, now_ns_);
  begun = {};
}

void FirstLook::Changed(const Event& event, DeviceId id, Device& device) {
  Look& look = looks_[id];
  const std::uint64_t ns = Nanoseconds(event);
  if (device.changes <= 1) {
    look.shown.process = event.process;
    look.shown.begin_ns = ns;
  }
  look.shown.changes = device.changes;
  look.shown.end_ns = std::max(look.shown.end_ns, ns);
  if (device.live <= look.shown.peak_bytes) return;
  look.shown.peak_bytes = device.live;
  look.shown.peak_change = device.changes;
}

void FirstLook::SeeProcessEnd(const ProcessEvent& event) {
  const std::uint64_t end_ns = Nanoseconds(event);
  for (auto& [id, look] : looks_) {
    if (look.shown.process == event.process) look.shown.end_ns = std::max(look.shown.end_ns, end_ns);
  }
  for (Begun& begun : begun_) {
    if (begun.device.valid()) CountWeight(begun, end_ns);
    begun = {};
  }
}

std::map<DeviceId, DeviceLook> FirstLook::ChooseBlocks(std::size_t most) {
  std::uint64_t all = 0;
  for (const auto& [id, look] : looks_) all += look.shown.blocks;
  std::map<DeviceId, DeviceLook> chosen;
  for (auto& [id, look] : looks_) {
    DeviceLook& shown = look.shown;
    const double share = static_cast<double>(shown.blocks) / static_cast<double>(std::max<std::uint64_t>(all, 1));
    const auto room = static_cast<std::uint64_t>(share * static_cast<double>(most));
    std::uint64_t kept = 0;
    shown.least_weight = kWeights;
    while (shown.least_weight > 0 && kept + look.weights[shown.least_weight - 1] <= room)
      kept += look.weights[--shown.least_weight];
    if (all <= most) shown.least_weight = 0;
    chosen[id] = shown;
  }
  return chosen;
}

}  // namespace memoir
