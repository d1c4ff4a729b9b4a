#include "simcuda/addresses/block_addresses.h"

#include <algorithm>

namespace memoir::simcuda {
std::uint64_t BlockAddresses::Take(std::uint64_t bytes, std::uint64_t alignment) {
  for (const auto& [serial, room] : with_room_) {
    if (room.largest < bytes) continue;
    if (const std::uint64_t address = TakeFrom(chunks_.find(room.chunk), bytes, alignment)) return address;
  }
  const std::uint64_t address = TakeNewChunk(bytes, alignment);
  return address != 0 ? address : space_.Take(bytes, alignment);
}

std::uint64_t BlockAddresses::TakeFrom(Chunks::iterator chunk, std::uint64_t bytes, std::uint64_t alignment) {
  const auto& holes = chunk->second.holes.all();
  auto best = holes.end();
  for (auto hole = holes.begin(); hole != holes.end(); ++hole) {
    if (Suffices(*hole, bytes, alignment) && (best == holes.end() || hole->second < best->second)) best = hole;
  }
  if (best == holes.end()) return 0;
  const std::uint64_t address = RoundUp(best->first, alignment);
  chunk->second.holes.Cut(best, address, bytes);
  chunk->second.used += bytes;
  NoteRoom(chunk);
  return address;
}

std::uint64_t BlockAddresses::TakeNewChunk(std::uint64_t bytes, std::uint64_t alignment) {
  const std::uint64_t size = RoundUp(bytes, kChunkStep), step = std::max(alignment, kChunkStep);
  const std::uint64_t address =
      order_ == AddressOrder::kLinux ? space_.TakeHighest(size, step) : space_.Take(size, step);
  if (address == 0) return 0;
  const auto chunk = chunks_.emplace(address, Chunk{size, next_serial_++, 0, {}}).first;
  chunk->second.holes.Give(address, size);
  return TakeFrom(chunk, bytes, alignment);
}

void BlockAddresses::Give(std::uint64_t address, std::uint64_t bytes) {
  auto chunk = chunks_.upper_bound(address);
  if (chunk == chunks_.begin()) return space_.Give(address, bytes);
  --chunk;
  if (address - chunk->first >= chunk->second.bytes) return space_.Give(address, bytes);
  chunk->second.used -= bytes;
  chunk->second.holes.Give(address, bytes);
  if (chunk->second.used > 0) return NoteRoom(chunk);
  with_room_.erase(chunk->second.serial);
  space_.Give(chunk->first, chunk->second.bytes);
  chunks_.erase(chunk);
}

void BlockAddresses::NoteRoom(Chunks::iterator chunk) {
  if (const std::uint64_t largest = chunk->second.holes.Largest(); largest > 0) {
    with_room_[chunk->second.serial] = {chunk->first, largest};
  } else {
    with_room_.erase(chunk->second.serial);
  }
}

}  // namespace memoir::simcuda
