#include "tracker/writer/state/driver_state.h"

#include <algorithm>
#include <vector>

namespace memoir {

bool DriverState::IsFreed(const LiveBlock& block) const {
  return std::any_of(early_frees_.begin(), early_frees_.end(), [&](const EarlyFree& free) {
    return free.device == block.device && free.address == block.address && free.serial > block.serial;
  });
}

void DriverState::Allocate(const LiveBlock& block) {
  if (IsFreed(block)) return;
  LiveBlock old;
  blocks_.Add(block, &old);
}

void DriverState::Free(std::uint32_t device, std::uint64_t address, std::uint64_t serial) {
  LiveBlock block;
  if (blocks_.Remove(device, address, serial, &block)) return;
  if (early_frees_.size() == kMaxEarlyFrees) early_frees_.pop_front();
  early_frees_.push_back({device, address, serial});
}

void DriverState::AddReading(std::uint32_t device, const DeviceReading& reading) {
  const auto known = readings_.find(device);
  if (known == readings_.end()) {
    if (readings_.size() < kMaxDevices) readings_[device] = {reading, reading, reading};
    return;
  }
  DeviceReadings& of = known->second;
  if (reading.serial < of.first.serial) of.first = reading;
  if (reading.serial > of.newest.serial) of.newest = reading;
  // If the free bytes are unknown, the number is kNotKnown, which is greater than any known number.
  if (reading.free_bytes < of.least_free.free_bytes) of.least_free = reading;
}

void DriverState::ForgetBefore(std::uint64_t tick) {
  std::vector<LiveBlock> old;
  blocks_.ForEach([&](const LiveBlock& block) {
    if (block.tick < tick) old.push_back(block);
  });
  for (LiveBlock& block : old) blocks_.Remove(block.device, block.address, block.serial, &block);
}

}  // namespace memoir
