// The blocks that are live where the writer stands: what a keyframe holds, and what gives a deallocation its bytes and
// its operator.
//
// Open addressing from (device, address) to a row; rows lie in pages, so growing copies no blocks. Bounded: past
// kMaxLiveBlocks allocations are counted and left out (keyframes then say `incomplete`), because the recorder's memory
// must not follow the program's. One thread.
#ifndef TRACKER_WRITER_LIVE_TABLE_H_
#define TRACKER_WRITER_LIVE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "interpose/ring_layout.h"

namespace memoir {

inline constexpr std::size_t kMaxLiveBlocks = 96 * 1024;

struct LiveBlock {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t serial = 0;
  std::uint64_t tick = 0;
  std::uint64_t requested = 0;  // 0: not known
  std::uint32_t thread = 0;
  std::uint32_t leaf_name = 0;    // in the capture
  std::uint16_t operator_id = 0;  // in the ring's table
  std::uint16_t module = 0;       // likewise
  std::uint16_t device = 0;       // fewer than types times indices of 8 bits each
  std::uint8_t place = 0;         // as LiveBlocks.place has it
  std::uint32_t stack = 0;        // of Python (stack_table.h)
  std::uint32_t forward_stack = 0;  // of the forward operator of the autograd node that made it
};
static_assert(sizeof(LiveBlock) == 64 && kMaxNames <= UINT16_MAX);

class LiveTable {
 public:
  explicit LiveTable(std::size_t max_blocks = kMaxLiveBlocks);

  enum class Added { kNew, kReplaced, kStale, kFull };
  // kReplaced: an older allocation stood at the address, so its deallocation was lost; it is returned in *old. kStale:
  // a newer one stands there, so this one is dead already.
  Added Add(const LiveBlock& block, LiveBlock* old);
  // Takes out the block at the address unless it is newer than `serial`. False: unknown (from before the recording,
  // lost, untracked).
  bool Remove(std::uint32_t device, std::uint64_t address, std::uint64_t serial, LiveBlock* block);

  // The block at the address; nullptr: none is known there. Valid until the next change.
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
  static constexpr std::uint16_t kFreeRow = UINT16_MAX;  // as its device
  static constexpr std::uint32_t kNoRow = 0xffffffffu;

  LiveBlock& Row(std::uint32_t row) const { return pages_[row / kPageRows][row % kPageRows]; }
  std::size_t Home(std::uint32_t device, std::uint64_t address) const;
  std::size_t FindSlot(std::uint32_t device, std::uint64_t address) const;
  std::uint32_t TakeRow();
  void EraseSlot(std::size_t slot);
  void Grow();

  std::size_t max_blocks_;
  std::vector<std::uint32_t> slots_;  // row, kNoRow: free
  std::vector<std::unique_ptr<LiveBlock[]>> pages_;
  std::uint32_t rows_ = 0;           // used or free
  std::uint32_t free_row_ = kNoRow;  // chained through LiveBlock::thread
  std::size_t count_ = 0;
  std::uint64_t untracked_ = 0;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_LIVE_TABLE_H_
