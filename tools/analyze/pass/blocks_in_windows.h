// Decides whether a block was live at some time in a window (a time span of the selection, selection.h). Blocks that
// were allocated before the window and freed inside of it are included.
#ifndef TOOLS_ANALYZE_PASS_BLOCKS_IN_WINDOWS_H_
#define TOOLS_ANALYZE_PASS_BLOCKS_IN_WINDOWS_H_

#include <cstdint>
#include <vector>

#include "tools/model/event/event_base.h"

namespace memoir {

class BlocksInWindows {
 public:
  void SeeWindowOpen() { ++opened_; }
  // `in_window`: whether the allocation happens in a window.
  void NoteAllocation(const Block& block, bool in_window) {
    if (block.slot == Block::kNoSlot) return;
    if (block.slot >= opened_before_.size()) opened_before_.resize(block.slot + 1);
    opened_before_[block.slot] = in_window ? 0 : opened_;
  }
  // Returns true if `block` was live in a window. Call it when the block is freed, or while the block is live.
  // `in_window`: whether the call happens in a window. A block without a slot is not remembered, so only `in_window`
  // decides about it.
  bool WasInWindow(const Block& block, bool in_window) const {
    if (block.slot == Block::kNoSlot) return in_window;
    return block.slot < opened_before_.size() && opened_before_[block.slot] < opened_;
  }

 private:
  std::uint64_t opened_ = 0;  // number of windows that have opened
  // By Block::slot. For a block that was allocated outside of windows: the number of windows that had opened before its
  // allocation. 0 for a block that was allocated in a window.
  std::vector<std::uint64_t> opened_before_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_PASS_BLOCKS_IN_WINDOWS_H_
