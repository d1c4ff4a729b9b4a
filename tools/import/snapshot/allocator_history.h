// Reconstructs data that a snapshot's trace omits, for one device. These are the segments and live blocks at the begin
// of the trace, and the rounded sizes of blocks for which the trace has only the requested size.
//
// The state at the begin is the state at the end with all entries undone, the newest first. A size is computed by
// torch's rules (round_size, should_split in c10/cuda/CUDACachingAllocator.cpp) from the requested size and the free
// room after the block. For blocks that are live at the end, the snapshot contains the size.
#ifndef TOOLS_IMPORT_SNAPSHOT_ALLOCATOR_HISTORY_H_
#define TOOLS_IMPORT_SNAPSHOT_ALLOCATOR_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "tools/import/snapshot/torch_snapshot.h"

namespace memoir {

class AllocatorHistory {
 public:
  struct SegmentPiece {  // a segment, or a mapped range of an expandable segment
    std::uint64_t bytes = 0;
    std::uint16_t stream = 0, pool = 0;
    bool mapped = false;
  };
  struct Block {
    std::uint64_t address = 0, bytes = 0, requested_bytes = 0;
    TorchSnapshot::Index origin = 0;
    std::uint16_t stream = 0, pool = 0;
    bool pending = false;     // true: its free was requested, but is not completed
    bool size_known = false;  // true: the block is live at the end of the trace
  };
  using SegmentPieces = std::map<std::uint64_t, SegmentPiece>;  // by address; they do not overlap

  // Undoes all entries of the device's trace. The snapshot must outlive this object.
  AllocatorHistory(const TorchSnapshot& snapshot, std::uint32_t device);

  const SegmentPieces& first_pieces() const { return first_pieces_; }
  const std::vector<Block>& first_blocks() const { return first_blocks_; }  // by address

  // Applies an entry of the trace. Call it for each entry, in order. Returns the size of an allocation as the allocator
  // counts it; 0 for other entries.
  std::uint64_t ApplyEntry(std::size_t entry);

 private:
  void UndoEntry(std::size_t at, absl::flat_hash_map<std::uint64_t, Block>& live);
  void SetFirstBlocks(const absl::flat_hash_map<std::uint64_t, Block>& live);
  std::uint64_t Rounded(std::uint64_t bytes) const;
  std::uint64_t RoomAt(std::uint64_t address, std::uint64_t enough) const;
  std::uint64_t BytesOf(std::uint64_t address, std::uint64_t requested) const;

  const TorchSnapshot& snapshot_;
  const std::vector<TorchSnapshot::TraceEntry>& trace_;
  SegmentPieces first_pieces_;
  std::vector<Block> first_blocks_;
  absl::flat_hash_map<std::size_t, std::uint64_t> known_bytes_;  // by index of the trace entry
  // The state after the last applied entry.
  SegmentPieces pieces_;
  absl::btree_map<std::uint64_t, std::uint64_t> active_;  // bytes by address
};

}  // namespace memoir

#endif  // TOOLS_IMPORT_SNAPSHOT_ALLOCATOR_HISTORY_H_
