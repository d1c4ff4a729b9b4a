#include "simcuda/machine/device.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <string>

#include "simcuda/configuration/configuration.h"
#include "simcuda/configuration/report_file.h"
#include "simcuda/configuration/visible_devices.h"
#include "simcuda/process/simulation_message.h"

namespace memoir::simcuda {
namespace {

// Bytes of addresses per byte of memory. For each stream and pool, torch's expandable segments reserve addresses for
// 9/8 of a card's memory, and never free them.
constexpr std::uint64_t kAddressesPerMemory = 32;
// Chunks of addresses may be half empty. If a device has fewer addresses per byte of memory than this number (ulimit
// -v), blocks get the lowest addresses, without chunks.
constexpr std::uint64_t kAddressesForChunks = 2;

bool IsCharged(BlockKind kind) { return kind == BlockKind::kDevice; }

}  // namespace

Device::Device(int ordinal, const CardProfile& profile, Contents& contents, std::uint64_t others, AddressOrder order)
    : ordinal_(ordinal),
      total_(profile.memory),
      context_(profile.context),
      unowned_(profile.unowned),
      others_(others),
      order_(order),
      contents_(contents) {}

bool Device::ReserveAddresses() {
  const std::lock_guard lock(mutex_);
  if (addresses_.size() > 0) return true;
  if (refused_) return false;
  const std::uint64_t least = total_ + 64 * kMiB;
  addresses_.Reserve(ordinal_, total_ * kAddressesPerMemory, least);
  if (addresses_.size() == 0) {
    refused_ = true;
    PrintMessage(
        ReadableBytes(least) + " of address space, which device " + std::to_string(ordinal_) + " needs, are refused (" +
        std::strerror(errno) + "); " +
        (HasAddressLimit() ? "raise 'ulimit -v'" : "let the system overcommit (sysctl vm.overcommit_memory=0)") +
        ", or simulate less memory (MEMOIR_SIM_MEMORY)");
    return false;
  }
  contents_.AddRegion(addresses_.base(), addresses_.size());
  if (addresses_.size() >= total_ * kAddressesForChunks) block_addresses_.emplace(addresses_, order_);
  return true;
}

bool Device::Start() {
  if (started()) return true;
  if (!ReserveAddresses()) return false;
  const std::lock_guard lock(mutex_);
  if (!started_.load() && ChargeLocked(context_ + unowned_, BudgetHolder::kContext))
    started_.store(true, std::memory_order_release);
  return started_.load();
}

std::uint64_t Device::Allocate(std::uint64_t bytes, BlockKind kind, std::uint64_t alignment) {
  if (!Start() || bytes > kMostMemory * kAddressesPerMemory) return 0;
  bytes = std::max<std::uint64_t>((bytes + alignment - 1) / alignment * alignment, alignment);
  const std::lock_guard lock(mutex_);
  if (IsCharged(kind) && !ChargeLocked(bytes, BudgetHolder::kBlocks)) return 0;
  const bool chunked = kind == BlockKind::kDevice && block_addresses_.has_value();
  const std::uint64_t address = chunked ? block_addresses_->Take(bytes, alignment) : addresses_.Take(bytes, alignment);
  if (address == 0) {
    if (IsCharged(kind)) RefundLocked(bytes, BudgetHolder::kBlocks);
    return 0;
  }
  blocks_[address] = {address, bytes, kind};
  return address;
}

bool Device::Free(std::uint64_t address, BlockKind kind) {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(address);
  if (found == blocks_.end() || found->second.kind != kind) return false;
  if (IsCharged(kind)) RefundLocked(found->second.bytes, BudgetHolder::kBlocks);
  contents_.MarkUnknown(address, found->second.bytes);
  if (kind == BlockKind::kDevice && block_addresses_.has_value()) {
    block_addresses_->Give(address, found->second.bytes);
  } else {
    addresses_.Give(address, found->second.bytes);
  }
  blocks_.erase(found);
  return true;
}

std::optional<DeviceBlock> Device::BlockAt(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  auto after = blocks_.upper_bound(address);
  if (after == blocks_.begin()) return std::nullopt;
  const DeviceBlock& block = std::prev(after)->second;
  if (address - block.address >= block.bytes) return std::nullopt;
  return block;
}

bool Device::Charge(std::uint64_t bytes, BudgetHolder holder) {
  if (!Start()) return false;
  const std::lock_guard lock(mutex_);
  return ChargeLocked(bytes, holder);
}

void Device::Refund(std::uint64_t bytes, BudgetHolder holder) {
  const std::lock_guard lock(mutex_);
  RefundLocked(bytes, holder);
}

MemoryInfo Device::Info() const {
  const std::lock_guard lock(mutex_);
  return {total_, used_ - (started() ? unowned_ : 0), peak_, others_ + unowned_};
}

bool Device::Contains(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  return addresses_.Contains(address);
}

bool Device::ChargeLocked(std::uint64_t bytes, BudgetHolder holder) {
  if (bytes > total_ - others_ - used_) {
    if (DeviceWords* const words = WordsOf(ordinal_)) {
      words->refusals.fetch_add(1);
      words->refused.store(bytes);
      words->refused_used.store(used_);
    }
    return false;
  }
  used_ += bytes;
  held_[static_cast<std::size_t>(holder)] += bytes;
  const bool new_peak = used_ > peak_;
  peak_ = std::max(peak_, used_);
  DeviceWords* const words = WordsOf(ordinal_);
  if (words != nullptr && bytes >= words->refused.load()) words->refused.store(0);
  Report(new_peak);
  return true;
}

void Device::RefundLocked(std::uint64_t bytes, BudgetHolder holder) {
  std::uint64_t& held = held_[static_cast<std::size_t>(holder)];
  bytes = std::min(held, bytes);
  held -= bytes;
  used_ -= bytes;
  Report(false);
}

void Device::Report(bool new_peak) const {
  DeviceWords* const words = WordsOf(ordinal_);
  if (words == nullptr) return;
  words->total.store(total_);
  words->context.store(context_ + unowned_);
  words->card.store(static_cast<std::uint64_t>(PhysicalDevice(ordinal_)) + 1);
  words->used.store(used_);
  // A forked child gets a new report file (report_file.h), in which the peak is 0 until it is stored here.
  if (!new_peak && words->peak.load() != 0) return;
  const auto held = [this](BudgetHolder holder) { return held_[static_cast<std::size_t>(holder)]; };
  words->peak.store(used_);
  words->peak_blocks.store(held(BudgetHolder::kBlocks));
  words->peak_mapped.store(held(BudgetHolder::kMapped));
  words->peak_pools.store(held(BudgetHolder::kPools));
  words->peak_libraries.store(held(BudgetHolder::kLibraries));
}

}  // namespace memoir::simcuda
