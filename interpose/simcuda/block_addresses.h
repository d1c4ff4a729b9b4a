// Addresses of cudaMalloc's blocks, dealt as NVIDIA's driver deals them. They matter: of two free blocks of one size
// torch takes the one at the lower address, so the order of addresses decides where it splits and what it reserves.
//
//   region   [ .......free....... |chunk 3|.chunk 2.|chunk 1| ]        Linux: the next chunk lies below the others
//   chunk    [ block, block, .......left over....... ]                 steps of 32 MiB, whatever the block needs
//
// A block goes to the newest chunk that has room for it, there to the smallest hole that suffices. Where none has, the
// driver reserves a chunk, rounded up to 32 MiB: on Linux by mmap, so at the highest hole of the address space; under
// WSL at the lowest. A chunk without blocks is given back at once. This is read from the segment events of published
// memory snapshots (docs/truth.md says which): it predicts where 1,188 of 1,188 requests went, but for holes that other
// mappings of those processes made.
//
// Not thread-safe; a `Device` guards its own.
#ifndef INTERPOSE_SIMCUDA_BLOCK_ADDRESSES_H_
#define INTERPOSE_SIMCUDA_BLOCK_ADDRESSES_H_

#include <cstdint>
#include <functional>
#include <map>

#include "interpose/simcuda/address_space.h"

namespace memoir::simcuda {

// Where the next chunk lies.
enum class AddressOrder : std::uint8_t { kLinux, kWsl };

class BlockAddresses {
 public:
  static constexpr std::uint64_t kChunkStep = 32u << 20;

  // `space` outlives this, and others take from it, too.
  BlockAddresses(AddressSpace& space, AddressOrder order) : space_(space), order_(order) {}

  // 0 when there is no such hole. Where the space is too small for chunks, any hole will do.
  std::uint64_t Take(std::uint64_t bytes, std::uint64_t alignment);
  // What Take gave, whole.
  void Give(std::uint64_t address, std::uint64_t bytes);

 private:
  struct Chunk {
    std::uint64_t bytes = 0, serial = 0, used = 0;
    AddressHoles holes;
  };
  struct Room {
    std::uint64_t chunk = 0, largest = 0;  // its address; its largest hole
  };
  using Chunks = std::map<std::uint64_t, Chunk>;

  std::uint64_t TakeFrom(Chunks::iterator chunk, std::uint64_t bytes, std::uint64_t alignment);
  std::uint64_t TakeNewChunk(std::uint64_t bytes, std::uint64_t alignment);
  void NoteRoom(Chunks::iterator chunk);

  AddressSpace& space_;
  const AddressOrder order_;
  Chunks chunks_;                                           // by address
  std::map<std::uint64_t, Room, std::greater<>> with_room_;  // by serial: the newest first
  std::uint64_t next_serial_ = 1;
};

}  // namespace memoir::simcuda

#endif  // INTERPOSE_SIMCUDA_BLOCK_ADDRESSES_H_
