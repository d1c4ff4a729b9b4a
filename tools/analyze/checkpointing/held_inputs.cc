#include "tools/analyze/checkpointing/held_inputs.h"

#include <algorithm>

namespace memoir {

void HeldInputs::Hold(const FollowedBlock& followed, CheckpointedPeaks& peaks) {
  std::vector<std::size_t> places;
  for (const CallNumber number : followed.inputs_of) {
    FollowedCall* call = calls_.Find(number);
    if (call == nullptr) continue;
    const AlikeNumber alike = call->alike;
    auto place = std::ranges::find_if(places, [&](std::size_t held) { return held_[held].alike == alike; });
    if (place == places.end()) {
      place = places.insert(places.end(), Add({followed.device, alike, followed.bytes, 0}));
      peaks.GroupBeforeChange(alike).held += followed.bytes;
    }
    ++held_[*place].calls;
    call->held.push_back(*place);
  }
}

std::size_t HeldInputs::Add(const HeldInput& held) {
  if (unheld_.empty()) {
    held_.push_back(held);
    return held_.size() - 1;
  }
  const std::size_t place = unheld_.back();
  unheld_.pop_back();
  held_[place] = held;
  return place;
}

void HeldInputs::Release(const FollowedCall& call) {
  for (const std::size_t place : call.held) {
    HeldInput& held = held_[place];
    if (--held.calls > 0) continue;
    devices_[held.device].GroupNow(held.alike).held -= held.bytes;
    unheld_.push_back(place);
  }
}

void HeldInputs::Clear() {
  held_.clear();
  unheld_.clear();
}

}  // namespace memoir
