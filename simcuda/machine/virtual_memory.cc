#include "simcuda/machine/virtual_memory.h"

#include <iterator>

namespace memoir::simcuda {

VirtualMemory::Handle VirtualMemory::Create(Device& device, std::uint64_t bytes) {
  if (bytes == 0 || !device.Charge(bytes, BudgetHolder::kMapped)) return 0;
  const std::lock_guard lock(mutex_);
  physical_[next_] = {&device, bytes, 1, 0};
  return next_++;
}

bool VirtualMemory::Release(Handle handle) {
  const std::lock_guard lock(mutex_);
  const auto found = physical_.find(handle);
  if (found == physical_.end() || found->second.handles == 0) return false;
  --found->second.handles;
  DropIfUnused(handle);
  return true;
}

VirtualMemory::Handle VirtualMemory::Retain(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  auto after = mappings_.upper_bound(address);
  if (after == mappings_.begin()) return 0;
  const auto& [begin, mapping] = *std::prev(after);
  if (address - begin >= mapping.bytes) return 0;
  ++physical_[mapping.handle].handles;
  return mapping.handle;
}

std::optional<int> VirtualMemory::DeviceOf(Handle handle) const {
  const std::lock_guard lock(mutex_);
  const auto found = physical_.find(handle);
  if (found == physical_.end()) return std::nullopt;
  return found->second.device->ordinal();
}

bool VirtualMemory::Map(std::uint64_t address, std::uint64_t bytes, Handle handle) {
  const std::lock_guard lock(mutex_);
  const auto found = physical_.find(handle);
  if (found == physical_.end() || found->second.handles == 0 || found->second.bytes != bytes) return false;
  const auto after = mappings_.lower_bound(address + bytes);
  if (after != mappings_.begin() && std::prev(after)->first + std::prev(after)->second.bytes > address) return false;
  mappings_[address] = {handle, bytes};
  ++found->second.mappings;
  return true;
}

bool VirtualMemory::Unmap(std::uint64_t address, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto first = mappings_.lower_bound(address), last = mappings_.lower_bound(address + bytes);
  if (first == last || std::prev(last)->first + std::prev(last)->second.bytes > address + bytes) return false;
  for (auto mapping = first; mapping != last; ++mapping) {
    Physical& physical = physical_[mapping->second.handle];
    physical.device->contents().MarkUnknown(mapping->first, mapping->second.bytes);
    --physical.mappings;
    DropIfUnused(mapping->second.handle);
  }
  mappings_.erase(first, last);
  return true;
}

std::uint64_t VirtualMemory::physical_bytes() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t sum = 0;
  for (const auto& [handle, physical] : physical_) sum += physical.bytes;
  return sum;
}

void VirtualMemory::DropIfUnused(Handle handle) {
  const auto found = physical_.find(handle);
  if (found->second.handles > 0 || found->second.mappings > 0) return;
  found->second.device->Refund(found->second.bytes, BudgetHolder::kMapped);
  physical_.erase(found);
}

}  // namespace memoir::simcuda
