#include "tools/model/replay/state/serial_matcher.h"

namespace memoir {

SerialMatcher::AllocationEffect SerialMatcher::CheckAllocation(DeviceId device, std::uint64_t address,
                                                               std::uint64_t serial) {
  AllocationEffect effect;
  if (!first_seen_.empty()) first_seen_.erase({device, address});
  if (Block* there = live_.Find(device, address)) {
    ++report_->replaced_blocks;
    effect.cause = DeallocateCause::kReplaced;
    if (there->serial > serial) {
      effect.closed_at_once = true;
    } else {
      effect.replaced = there;
    }
    return effect;
  }
  if (early_.empty()) return effect;
  const auto early = early_.find({device, address});
  if (early == early_.end()) return effect;
  if (early->second > serial) {
    effect.closed_at_once = true;
    --report_->unmatched_deallocations;
  }
  early_.erase(early);
  return effect;
}

Block* SerialMatcher::FindClosed(DeviceId device, std::uint64_t address, std::uint64_t serial) {
  Block* there = live_.Find(device, address);
  if (there != nullptr && there->serial < serial) return there;
  if (there != nullptr) return nullptr;  // a later allocation at this address has closed the block already
  ++report_->unmatched_deallocations;
  if (early_.size() >= kMaxRemembered) early_.clear();
  early_[{device, address}] = serial;
  return nullptr;
}

bool SerialMatcher::IsFirstSeen(const Tensor& tensor) {
  if (tensor.storage == 0 || tensor.storage_bytes == 0) return false;
  if (live_.Find(tensor.device, tensor.storage) != nullptr) return false;
  if (first_seen_.size() >= kMaxRemembered) first_seen_.clear();
  const auto [known, added] = first_seen_.try_emplace({tensor.device, tensor.storage}, tensor.storage_bytes);
  if (added) return true;
  return std::exchange(known->second, tensor.storage_bytes) != tensor.storage_bytes;
}

void SerialMatcher::Clear() {
  live_.Clear();
  early_.clear();
  first_seen_.clear();
}

}  // namespace memoir
