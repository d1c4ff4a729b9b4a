#include "tracker/writer/state/memory_state.h"

#include <algorithm>

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

  if (!Add(block)) sums.deallocated_bytes += block.bytes;
}

void MemoryState::AddFound(const LiveBlock& block) { Add(block); }

// Adds a block. False if a newer block is at the address.
bool MemoryState::Add(const LiveBlock& block) {
  LiveBlock old;
  const LiveBlockTable::AddResult added = live_.Add(block, &old);
  if (added == LiveBlockTable::AddResult::kStale) return false;
  if (added == LiveBlockTable::AddResult::kReplaced) Forget(old);
  if (added == LiveBlockTable::AddResult::kFull) return true;
  DeviceSums& device = Device(block.device);
  device.live_bytes += block.bytes;
  ++device.live_blocks;
  if (device.live_bytes > device.peak_bytes) {
    device.peak_bytes = device.live_bytes;
    device.peak_tick = block.tick;
  }
  NoteActive(block.device);
  return true;
}

void MemoryState::NoteActive(std::uint32_t id) {
  DeviceSums& device = Device(id);
  device.peak_active_bytes = std::max(device.peak_active_bytes, device.live_bytes + device.freeing_bytes);
}

void MemoryState::RequestFree(std::uint32_t device, std::uint64_t address, std::uint64_t serial) {
  ++Device(device).deallocations;
  LiveBlock block, old;
  if (!live_.Remove(device, address, serial, &block)) return;
  Forget(block);
  block.serial = serial;
  const LiveBlockTable::AddResult added = freeing_.Add(block, &old);
  if (added == LiveBlockTable::AddResult::kReplaced) Device(device).freeing_bytes -= old.bytes;
  if (added == LiveBlockTable::AddResult::kReplaced || added == LiveBlockTable::AddResult::kNew)
    Device(device).freeing_bytes += block.bytes;
}

void MemoryState::CompleteFree(std::uint32_t device, std::uint64_t address, std::uint64_t serial) {
  LiveBlock block;
  if (freeing_.Remove(device, address, serial, &block)) {
    Device(device).freeing_bytes -= block.bytes;
  } else if (live_.Remove(device, address, serial, &block)) {  // the request to free the block was lost
    Forget(block);
  }
}

void MemoryState::AddSegment(const ReservedSegment& segment) {
  DeviceSums& device = Device(segment.device);
  device.has_segments = true;
  device.reserved_bytes += segments_.Add(segment);
  device.peak_reserved_bytes = std::max(device.peak_reserved_bytes, device.reserved_bytes);
}

void MemoryState::RemoveSegment(std::uint32_t device, std::uint64_t address, std::uint64_t bytes) {
  Device(device).reserved_bytes -= segments_.Remove(device, address, bytes);
}

void MemoryState::Count(std::uint32_t device, std::uint64_t alloc_retries, std::uint64_t ooms) {
  Device(device).alloc_retries = alloc_retries;
  Device(device).ooms = ooms;
}

void MemoryState::ForgetBefore(std::uint64_t tick) {
  std::vector<LiveBlock> old;
  live_.ForEach([&](const LiveBlock& block) {
    if (block.tick < tick) old.push_back(block);
  });
  for (LiveBlock& block : old) {
    if (live_.Remove(block.device, block.address, block.serial, &block)) Forget(block);
  }
  // Removes all segments and all requested frees, because the hooks record the allocator's state again.
  freeing_ = LiveBlockTable(kMaxFreeing);
  segments_ = SegmentTable();
  for (DeviceSums& device : devices_) device.freeing_bytes = device.reserved_bytes = 0;
}

void MemoryState::Deallocate(std::uint32_t device, std::uint64_t address, std::uint64_t serial) {
  ++Device(device).deallocations;
  LiveBlock block;
  if (live_.Remove(device, address, serial, &block)) Forget(block);
}

}  // namespace memoir
