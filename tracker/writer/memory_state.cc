#include "tracker/writer/memory_state.h"

namespace memoir {

DeviceSums& MemoryState::Device(std::uint32_t device) {
  if (devices_.size() <= device) devices_.resize(std::size_t{device} + 1);
  return devices_[device];
}

OperatorSums& MemoryState::Operator(std::uint32_t operator_id) {
  if (operators_.size() <= operator_id) operators_.resize(std::size_t{operator_id} + 1);
  return operators_[operator_id];
}

void MemoryState::CountCall(std::uint32_t operator_id, bool outermost) {
  OperatorSums& sums = Operator(operator_id);
  ++sums.count;
  if (outermost) ++sums.outermost_count;
}

void MemoryState::Forget(const LiveBlock& block) {
  DeviceSums& device = Device(block.device);
  device.live_bytes -= block.bytes;
  --device.live_blocks;
  Operator(block.operator_id).deallocated_bytes += block.bytes;
}

void MemoryState::Allocate(const LiveBlock& block) {
  DeviceSums& device = Device(block.device);
  device.allocated_bytes += block.bytes;
  ++device.allocations;
  OperatorSums& sums = Operator(block.operator_id);
  ++sums.allocations;
  sums.allocated_bytes += block.bytes;

  LiveBlock old;
  const LiveTable::Added added = live_.Add(block, &old);
  if (added == LiveTable::Added::kReplaced) Forget(old);
  if (added == LiveTable::Added::kStale) sums.deallocated_bytes += block.bytes;
  if (added == LiveTable::Added::kStale || added == LiveTable::Added::kFull) return;
  device.live_bytes += block.bytes;
  ++device.live_blocks;
  if (device.live_bytes > device.peak_bytes) {
    device.peak_bytes = device.live_bytes;
    device.peak_tick = block.tick;
  }
}

void MemoryState::ForgetBefore(std::uint64_t tick) {
  std::vector<LiveBlock> old;
  live_.ForEach([&](const LiveBlock& block) {
    if (block.tick < tick) old.push_back(block);
  });
  for (LiveBlock& block : old) {
    if (live_.Remove(block.device, block.address, block.serial, &block)) Forget(block);
  }
}

void MemoryState::Deallocate(std::uint32_t device, std::uint64_t address, std::uint64_t serial) {
  ++Device(device).deallocations;
  LiveBlock block;
  if (live_.Remove(device, address, serial, &block)) Forget(block);
}

}  // namespace memoir
