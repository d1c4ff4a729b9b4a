#include "tools/model/device_memory.h"

#include <algorithm>

namespace memoir {
namespace {

// torch's kSmallSize and kSmallBuffer: what the pools are told apart by.
constexpr std::uint64_t kMostSmallBlock = 1u << 20;
constexpr std::uint64_t kMostSmallSegment = 2u << 20;

}  // namespace

void DeviceMemory::Allocate(std::uint64_t bytes, std::uint64_t requested) {
  allocated_.Add(bytes, bytes <= kMostSmallBlock);
  active_.Add(bytes, bytes <= kMostSmallBlock);
  requested_ += requested;
}

void DeviceMemory::Deactivate(const Freed& freed) {
  active_.Take(freed.bytes, freed.bytes <= kMostSmallBlock);
  requested_ -= freed.requested;
}

void DeviceMemory::RequestFree(std::uint64_t address, std::uint64_t bytes, std::uint64_t requested,
                               std::uint64_t serial) {
  allocated_.Take(bytes, bytes <= kMostSmallBlock);
  const Freeing freeing{{bytes, requested}, serial};
  const auto [waiting, added] = freeing_.try_emplace(address, freeing);
  if (added) return;
  Deactivate(waiting->second.freed);  // its completion was lost
  waiting->second = freeing;
}

void DeviceMemory::Forget(std::uint64_t bytes, std::uint64_t requested) {
  allocated_.Take(bytes, bytes <= kMostSmallBlock);
  Deactivate({bytes, requested});
}

std::optional<DeviceMemory::Freed> DeviceMemory::CompleteFree(std::uint64_t address, std::uint64_t serial) {
  const auto waiting = freeing_.find(address);
  if (waiting == freeing_.end() || waiting->second.serial > serial) return std::nullopt;
  const Freed freed = waiting->second.freed;
  Deactivate(freed);
  freeing_.erase(waiting);
  return freed;
}

bool DeviceMemory::IsSmallSegment(std::uint64_t bytes) { return bytes <= kMostSmallSegment; }

void DeviceMemory::AddSegment(std::uint64_t address, const ReservedPiece& piece) {
  caching_ = true;
  if (piece.bytes == 0 || address + piece.bytes < address) return;
  RemoveSegment(address, piece.bytes);  // what lies there was lost
  segments_[address] = piece;
  reserved_.Add(piece.bytes, piece.small);
}

void DeviceMemory::RemoveSegment(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t end = address + bytes < address ? ~std::uint64_t{0} : address + bytes;
  auto at = segments_.upper_bound(address);
  if (at != segments_.begin()) --at;
  while (at != segments_.end() && at->first < end) {
    const auto [begin, whole] = *at;
    const std::uint64_t whole_end = begin + whole.bytes;
    if (whole_end <= address) {
      ++at;
      continue;
    }
    at = segments_.erase(at);
    reserved_.Take(std::min(end, whole_end) - std::max(address, begin), whole.small);
    ReservedPiece rest = whole;
    rest.bytes = address - begin;
    if (begin < address) segments_[begin] = rest;
    rest.bytes = whole_end - end;
    if (whole_end > end) segments_[end] = rest;
  }
}

void DeviceMemory::ForgetSegments() {
  for (const auto& [address, waiting] : freeing_) Deactivate(waiting.freed);
  freeing_.clear();
  segments_.clear();
  finder_.reset();
  reserved_ = {};
}

}  // namespace memoir
