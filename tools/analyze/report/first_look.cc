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

void FirstLook::SeeProcessBegin(const ProcessEvent&) { opened_ns_ = closed_ns_ = kNever; }

void FirstLook::WindowOpens(const Event& event) {
  whole_.windows = std::max(whole_.windows, ++windows_[event.process]);
  opened_ns_ = std::min(opened_ns_, Nanoseconds(event));
  closed_ns_ = kNever;
  ChangePass::WindowOpens(event);
}

void FirstLook::WindowCloses(const Event& event) { closed_ns_ = std::max(opened_ns_, Nanoseconds(event)); }

// As much of its life as lies in the window.
void FirstLook::CountWeight(Begun begun, std::uint64_t end_ns) {
  if (opened_ns_ == kNever || begun.ns > closed_ns_) return;
  begun.ns = std::max(begun.ns, opened_ns_);
  end_ns = std::min(end_ns, closed_ns_);
  const auto look = looks_.find(begun.device);
  if (look == looks_.end()) return;
  ++look->second.shown.blocks;
  ++look->second.weights[WeightOf(begun.bytes, end_ns - std::min(end_ns, begun.ns))];
}

void FirstLook::Removed(const Block& block) {
  Begun& begun = block.slot == Block::kNoSlot ? late_ : begun_[block.slot];
  CountWeight(begun, now_ns_);
  begun = {};
}

void FirstLook::Changed(const Event& event, DeviceId id, Device& device) {
  if (!is_inside()) return;
  const auto [known, is_new] = looks_.try_emplace(id);
  Look& look = known->second;
  const std::uint64_t ns = Nanoseconds(event);
  if (is_new) {
    look.shown.process = event.process;
    look.shown.begin_ns = is_whole() ? ns : opened_ns_;
  }
  look.shown.changes = device.changes;
  look.shown.end_ns = std::max(look.shown.end_ns, ns);
  if (device.live <= look.shown.peak_bytes) return;
  look.shown.peak_bytes = device.live;
  look.shown.peak_change = device.changes;
}

void FirstLook::SeeProcessEnd(const ProcessEvent& event) {
  const std::uint64_t end_ns = is_whole() ? Nanoseconds(event) : closed_ns_;
  for (auto& [id, look] : looks_) {
    if (look.shown.process == event.process) look.shown.end_ns = std::max(look.shown.end_ns, end_ns);
  }
  const auto has_memory = [&](const auto& device) { return device.second.process == event.process; };
  if (std::ranges::any_of(devices(), has_memory)) {
    ++whole_.processes;
    whole_.processes_in_part += opened_ns_ != kNever;
  }
  whole_.steps = std::max(whole_.steps, steps().begun(steps().source()));
  whole_.end_ns = std::max(whole_.end_ns, Nanoseconds(event));
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
