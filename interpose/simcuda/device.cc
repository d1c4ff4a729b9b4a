#include "interpose/simcuda/device.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <string>

#include "interpose/simcuda/configuration.h"
#include "interpose/simcuda/message.h"

namespace memoir::simcuda {
namespace {

// Expandable segments reserve 9/8 of a card for each stream and pool, and never give it back.
constexpr std::uint64_t kAddressesPerMemory = 32;

bool IsCharged(BlockKind kind) { return kind == BlockKind::kDevice; }

}  // namespace

Device::Device(int ordinal, const Profile& profile, Contents& contents)
    : ordinal_(ordinal), total_(profile.memory), context_(profile.context), contents_(contents) {}

bool Device::ReserveAddresses() {
  const std::lock_guard lock(mutex_);
  if (addresses_.size() > 0) return true;
  if (refused_) return false;
  const std::uint64_t least = total_ + 64 * kMiB;
  addresses_.Reserve(ordinal_, total_ * kAddressesPerMemory, least);
  if (addresses_.size() == 0) {
    refused_ = true;
    Say(ReadableBytes(least) + " of address space, which device " + std::to_string(ordinal_) + " needs, are refused (" +
        std::strerror(errno) + "); raise 'ulimit -v', or simulate less memory (MEMOIR_SIM_MEMORY)");
    return false;
  }
  contents_.AddRegion(addresses_.base(), addresses_.size());
  return true;
}

bool Device::Start() {
  if (started()) return true;
  if (!ReserveAddresses()) return false;
  const std::lock_guard lock(mutex_);
  if (!started_.load() && ChargeLocked(context_)) started_.store(true, std::memory_order_release);
  return started_.load();
}

std::uint64_t Device::Allocate(std::uint64_t bytes, BlockKind kind, std::uint64_t alignment) {
  if (!Start() || bytes > kMostMemory * kAddressesPerMemory) return 0;
  bytes = std::max<std::uint64_t>((bytes + alignment - 1) / alignment * alignment, alignment);
  const std::lock_guard lock(mutex_);
  if (IsCharged(kind) && !ChargeLocked(bytes)) return 0;
  const std::uint64_t address = addresses_.Take(bytes, alignment);
  if (address == 0) {
    if (IsCharged(kind)) used_ -= bytes;
    return 0;
  }
  blocks_[address] = {address, bytes, kind};
  return address;
}

bool Device::Free(std::uint64_t address, BlockKind kind) {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(address);
  if (found == blocks_.end() || found->second.kind != kind) return false;
  if (IsCharged(kind)) used_ -= found->second.bytes;
  contents_.Forget(address, found->second.bytes);
  addresses_.Give(address, found->second.bytes);
  blocks_.erase(found);
  return true;
}

std::optional<Block> Device::BlockAt(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  auto after = blocks_.upper_bound(address);
  if (after == blocks_.begin()) return std::nullopt;
  const Block& block = std::prev(after)->second;
  if (address - block.address >= block.bytes) return std::nullopt;
  return block;
}

bool Device::Charge(std::uint64_t bytes) {
  if (!Start()) return false;
  const std::lock_guard lock(mutex_);
  return ChargeLocked(bytes);
}

void Device::Refund(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  used_ -= std::min(used_, bytes);
}

MemoryInfo Device::Info() const {
  const std::lock_guard lock(mutex_);
  return {total_, used_, peak_};
}

bool Device::Contains(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  return addresses_.Contains(address);
}

bool Device::ChargeLocked(std::uint64_t bytes) {
  if (bytes > total_ - used_) return false;
  used_ += bytes;
  peak_ = std::max(peak_, used_);
  return true;
}

}  // namespace memoir::simcuda
