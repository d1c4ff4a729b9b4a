// A table of the blocks that are live after the last event that was added to a chunk. Keyframes contain these blocks.
// At a deallocation, the writer finds the bytes and the operator of the block here.
//
// The table uses open addressing from (device, address) to a row. Rows are stored in pages, so no blocks are copied
// when the table grows. Bounded, because the writer's memory must not grow with the program's memory: when the table is
// full, further allocations are only counted, and keyframes are marked as `incomplete`. One thread.
#ifndef TRACKER_WRITER_STATE_LIVE_BLOCK_TABLE_H_
#define TRACKER_WRITER_STATE_LIVE_BLOCK_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "interpose/ring/ring_layout.h"

namespace memoir {

inline constexpr std::size_t kMaxLiveBlocks = 96 * 1024;

struct LiveBlock {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t serial = 0;
  std::uint64_t tick = 0;
  std::uint64_t requested = 0;  // 0: unknown
  std::uint32_t thread = 0;
  std::uint32_t leaf_name = 0;      // innermost range: name id in the capture
  std::uint16_t operator_id = 0;    // operator: name id in the ring's table
  std::uint16_t module = 0;         // name id in the ring's table
  std::uint16_t device = 0;         // device id; 16 bits suffice, because type and index have 8 bits each
  std::uint8_t place = 0;           // bits as in LiveBlocks.place (capture.proto)
  std::uint32_t stack = 0;          // Python stack (stack_table.h)
  std::uint32_t forward_stack = 0;  // Python stack of the forward operator, if an autograd node allocated the block
};
static_assert(sizeof(LiveBlock) == 64 && kMaxNames <= UINT16_MAX);

class LiveBlockTable {
 public:
  explicit LiveBlockTable(std::size_t max_blocks = kMaxLiveBlocks);

  enum class AddResult { kNew, kReplaced, kStale, kFull };
  // Adds a block. kReplaced: an older block was at the address, so its deallocation was lost; *old is this older block.
  // kStale: a newer block is at the address, so `block` is already freed, and is not added. kFull: the table is full,
  // so `block` is only counted.
  AddResult Add(const LiveBlock& block, LiveBlock* old);
  // Removes the block at the address, unless its serial is greater than `serial`, and sets *block to it. Returns false
  // if there is no such block: it was allocated before the recording, its allocation was lost, or the table was full.
  bool Remove(std::uint32_t device, std::uint64_t address, std::uint64_t serial, LiveBlock* block);

  // Returns the block at the address; nullptr if the table has no such block. Valid until the table is changed.
  const LiveBlock* Find(std::uint32_t device, std::uint64_t address) const;

  std::size_t size() const { return count_; }
  std::uint64_t untracked() const { return untracked_; }

  template <typename Visit>
  void ForEach(Visit visit) const {
    for (std::uint32_t row = 0; row < rows_; ++row) {
      if (const LiveBlock& block = Row(row); block.device != kFreeRow) visit(block);
    }
  }

 private:
  static constexpr std::size_t kPageRows = 1024;
  static constexpr std::uint16_t kFreeRow = UINT16_MAX;  // value of `device` in a free row
  static constexpr std::uint32_t kNoRow = 0xffffffffu;

  LiveBlock& Row(std::uint32_t row) const { return pages_[row / kPageRows][row % kPageRows]; }
  std::size_t Home(std::uint32_t device, std::uint64_t address) const;
  std::size_t FindSlot(std::uint32_t device, std::uint64_t address) const;
  std::uint32_t TakeRow();
  void EraseSlot(std::size_t slot);
  void Grow();

  std::size_t max_blocks_;
  std::vector<std::uint32_t> slots_;  // number of a row; kNoRow: the slot is free
  std::vector<std::unique_ptr<LiveBlock[]>> pages_;
  std::uint32_t rows_ = 0;           // number of rows, including free ones
  std::uint32_t free_row_ = kNoRow;  // first free row; LiveBlock::thread of a free row is the next free row
  std::size_t count_ = 0;
  std::uint64_t untracked_ = 0;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_STATE_LIVE_BLOCK_TABLE_H_
