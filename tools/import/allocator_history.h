// What a snapshot's trace does not say of one device: what was reserved and live where the trace begins, and how large
// a block is of which the trace has only what was asked for.
//
// The state at the start is the state at the end, gone back entry by entry. Sizes are torch's own rules (round_size,
// should_split in c10/cuda/CUDACachingAllocator.cpp), by what lies around a block; of blocks that are live at the end
// the snapshot says them.
#ifndef TOOLS_IMPORT_ALLOCATOR_HISTORY_H_
#define TOOLS_IMPORT_ALLOCATOR_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "tools/import/torch_snapshot.h"

namespace memoir {

class AllocatorHistory {
 public:
  struct Piece {  // a segment, or what is mapped of an expandable one
    std::uint64_t bytes = 0;
    std::uint16_t stream = 0, pool = 0;
    bool mapped = false;
  };
  struct Block {
    std::uint64_t address = 0, bytes = 0, requested_bytes = 0;
    TorchSnapshot::Number origin = 0;
    std::uint16_t stream = 0, pool = 0;
    bool pending = false;     // its free is requested
    bool size_known = false;  // of what is live at the end
  };
  using Pieces = std::map<std::uint64_t, Piece>;  // by address; they do not overlap

  // Goes back through all of the device's trace. The snapshot must outlive it.
  AllocatorHistory(const TorchSnapshot& snapshot, std::uint32_t device);

  const Pieces& first_pieces() const { return first_pieces_; }
  const std::vector<Block>& first_blocks() const { return first_blocks_; }  // by address

  // For each entry of the trace, in order: of an allocation its bytes, as the allocator counts them; else 0.
  std::uint64_t Follow(std::size_t entry);

 private:
  void GoBack(std::size_t at, absl::flat_hash_map<std::uint64_t, Block>& live);
  void SetFirstBlocks(const absl::flat_hash_map<std::uint64_t, Block>& live);
  std::uint64_t Rounded(std::uint64_t bytes) const;
  std::uint64_t RoomAt(std::uint64_t address, std::uint64_t enough) const;
  std::uint64_t BytesOf(std::uint64_t address, std::uint64_t requested) const;

  const TorchSnapshot& snapshot_;
  const std::vector<TorchSnapshot::Entry>& trace_;
  Pieces first_pieces_;
  std::vector<Block> first_blocks_;
  absl::flat_hash_map<std::size_t, std::uint64_t> known_bytes_;  // by entry
  // Where Follow() is.
  Pieces pieces_;
  absl::btree_map<std::uint64_t, std::uint64_t> active_;  // bytes by address
};

}  // namespace memoir

#endif  // TOOLS_IMPORT_ALLOCATOR_HISTORY_H_
