#include "tools/model/device_memory.h"

#include <algorithm>

namespace memoir {
namespace {

// torch's kSmallSize and kSmallBuffer: the largest block and the largest segment of the pool for small blocks.
constexpr std::uint64_t kMostSmallBlock = 1u << 20;
constexpr std::uint64_t kMostSmallSegment = 2u << 20;

}  // namespace

void DeviceMemory::Allocate(std::uint64_t bytes, std::uint64_t requested) {
  allocated_.Add(bytes, bytes <= kMostSmallBlock);
  active_.Add(bytes, bytes <= kMostSmallBlock);
  requested_ += requested;
}

void DeviceMemory::Deactivate(const FreedBlock& freed) {
  active_.Remove(freed.bytes, freed.bytes <= kMostSmallBlock);
  requested_ -= freed.requested;
}

void DeviceMemory::RequestFree(std::uint64_t address, std::uint64_t bytes, std::uint64_t requested,
                               std::uint64_t serial) {
  allocated_.Remove(bytes, bytes <= kMostSmallBlock);
  const PendingFree freeing{{bytes, requested}, serial};
  const auto [waiting, added] = pending_frees_.try_emplace(address, freeing);
  if (added) return;
  Deactivate(waiting->second.freed);  // the completion of the earlier free was lost
  waiting->second = freeing;
}

void DeviceMemory::ForgetBlock(std::uint64_t bytes, std::uint64_t requested) {
  allocated_.Remove(bytes, bytes <= kMostSmallBlock);
  Deactivate({bytes, requested});
}

std::optional<DeviceMemory::FreedBlock> DeviceMemory::CompleteFree(std::uint64_t address, std::uint64_t serial) {
  const auto waiting = pending_frees_.find(address);
  if (waiting == pending_frees_.end() || waiting->second.serial > serial) return std::nullopt;
  const FreedBlock freed = waiting->second.freed;
  Deactivate(freed);
  pending_frees_.erase(waiting);
  return freed;
}

bool DeviceMemory::IsSmallSegment(std::uint64_t bytes) { return bytes <= kMostSmallSegment; }

void DeviceMemory::AddSegment(std::uint64_t address, const ReservedPiece& piece) {
  caching_ = true;
  if (piece.bytes == 0 || address + piece.bytes < address) return;
  RemoveSegment(address, piece.bytes);  // a segment at these addresses was freed, and its free was lost
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
    reserved_.Remove(std::min(end, whole_end) - std::max(address, begin), whole.small);
    ReservedPiece rest = whole;
    rest.bytes = address - begin;
    if (begin < address) segments_[begin] = rest;
    rest.bytes = whole_end - end;
    if (whole_end > end) segments_[end] = rest;
  }
}

void DeviceMemory::ForgetSegments() {
  for (const auto& [address, waiting] : pending_frees_) Deactivate(waiting.freed);
  pending_frees_.clear();
  segments_.clear();
  finder_.reset();
  reserved_ = {};
}

}  // namespace memoir
