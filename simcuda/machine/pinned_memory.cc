#include "simcuda/machine/pinned_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <iterator>

namespace memoir::simcuda {
namespace {

constexpr std::size_t kPage = 4096;

std::uint64_t Address(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

}  // namespace

void* PinnedMemory::Allocate(std::size_t bytes) {
  if (bytes > SIZE_MAX - kPage) return nullptr;
  const std::size_t whole = std::max((bytes + kPage - 1) / kPage * kPage, kPage);
  void* const got = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (got == MAP_FAILED) return nullptr;
  const std::lock_guard lock(mutex_);
  if (!Take(whole)) {
    munmap(got, whole);
    return nullptr;
  }
  ranges_[Address(got)] = {whole, true};
  return got;
}

bool PinnedMemory::Free(void* address) {
  std::size_t bytes = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto found = ranges_.find(Address(address));
    if (found == ranges_.end() || !found->second.ours) return false;
    bytes = found->second.bytes;
    pinned_ -= bytes;
    ranges_.erase(found);
  }
  munmap(address, bytes);
  return true;
}

PinnedMemory::RegisterResult PinnedMemory::Register(void* address, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (Overlaps(Address(address), bytes)) return RegisterResult::kOverlaps;
  if (!Take(bytes)) return RegisterResult::kRefused;
  ranges_[Address(address)] = {bytes, false};
  return RegisterResult::kYes;
}

bool PinnedMemory::Unregister(void* address) {
  const std::lock_guard lock(mutex_);
  const auto found = ranges_.find(Address(address));
  if (found == ranges_.end() || found->second.ours) return false;
  pinned_ -= found->second.bytes;
  ranges_.erase(found);
  return true;
}

bool PinnedMemory::Take(std::uint64_t bytes) {
  if (bytes > most_ - pinned_) return false;
  pinned_ += bytes;
  return true;
}

bool PinnedMemory::IsPinned(const void* address) const {
  const std::lock_guard lock(mutex_);
  return Overlaps(Address(address), 1);
}

std::uint64_t PinnedMemory::pinned_bytes() const {
  const std::lock_guard lock(mutex_);
  return pinned_;
}

bool PinnedMemory::Overlaps(std::uint64_t address, std::size_t bytes) const {
  const auto after = ranges_.lower_bound(address + bytes);
  if (after == ranges_.begin()) return false;
  const auto& [begin, range] = *std::prev(after);
  return begin + range.bytes > address;
}

}  // namespace memoir::simcuda
