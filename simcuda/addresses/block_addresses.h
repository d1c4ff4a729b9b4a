// Assigns addresses to cudaMalloc's blocks as NVIDIA's driver does. The addresses matter: of two free blocks of one
// size torch uses the block at the lower address, so the order of addresses decides which block torch splits, and how
// much torch reserves. A chunk is a range of addresses that the driver reserves for blocks of any size.
//
//   region   [ .......free....... |chunk 3|.chunk 2.|chunk 1| ]        Linux: the next chunk lies below the others
//   chunk    [ block, block, .......left over....... ]                 a multiple of 32 MiB
//
// The driver places a block in the newest chunk with enough room, in the smallest sufficient hole of this chunk. If no
// chunk has room, the driver reserves a new chunk. On Linux the driver does so by mmap, and gets the highest hole of
// the address space; under WSL the driver gets the lowest hole. A chunk without blocks is freed immediately. These
// rules come from the segment events of published memory snapshots (docs/simulated_device.md). For each of 1,188
// requests in these snapshots, the rules predict the right chunk. They predict the place of a new chunk only if other
// mappings of the process left no holes.
//
// Not thread-safe; a `Device` guards its own.
#ifndef SIMCUDA_ADDRESSES_BLOCK_ADDRESSES_H_
#define SIMCUDA_ADDRESSES_BLOCK_ADDRESSES_H_

#include <cstdint>
#include <functional>
#include <map>

#include "simcuda/addresses/address_space.h"

namespace memoir::simcuda {

// The end of the address space at which the next chunk is placed: high on Linux, low under WSL.
enum class AddressOrder : std::uint8_t { kLinux, kWsl };

class BlockAddresses {
 public:
  static constexpr std::uint64_t kChunkStep = 32u << 20;

  // `space` must outlive this object. Other users may also take ranges from `space`.
  BlockAddresses(AddressSpace& space, AddressOrder order) : space_(space), order_(order) {}

  // Takes an address for a block. If the space has no room for a new chunk, takes the lowest hole of the space that is
  // large enough. 0 if no hole is large enough.
  std::uint64_t Take(std::uint64_t bytes, std::uint64_t alignment);
  // Gives back a range that Take returned, as a whole.
  void Give(std::uint64_t address, std::uint64_t bytes);

 private:
  struct Chunk {
    std::uint64_t bytes = 0, serial = 0, used = 0;
    AddressHoles holes;
  };
  struct Room {
    std::uint64_t chunk = 0, largest = 0;  // address of the chunk; bytes of the chunk's largest hole
  };
  using Chunks = std::map<std::uint64_t, Chunk>;

  std::uint64_t TakeFrom(Chunks::iterator chunk, std::uint64_t bytes, std::uint64_t alignment);
  std::uint64_t TakeNewChunk(std::uint64_t bytes, std::uint64_t alignment);
  void NoteRoom(Chunks::iterator chunk);

  AddressSpace& space_;
  const AddressOrder order_;
  Chunks chunks_;                                            // by address
  std::map<std::uint64_t, Room, std::greater<>> with_room_;  // by serial: the newest first
  std::uint64_t next_serial_ = 1;
};

}  // namespace memoir::simcuda

#endif  // SIMCUDA_ADDRESSES_BLOCK_ADDRESSES_H_
