// Which live blocks were live at some instant of a window, though they may be older.
#ifndef TOOLS_ANALYZE_PASS_WINDOW_BIRTHS_H_
#define TOOLS_ANALYZE_PASS_WINDOW_BIRTHS_H_

#include <cstdint>
#include <vector>

#include "tools/model/event_base.h"

namespace memoir {

class WindowBirths {
 public:
  void WindowOpens() { ++opened_; }
  void Allocated(const Block& block, bool in_window) {
    if (block.slot == Block::kNoSlot) return;
    if (block.slot >= opened_before_.size()) opened_before_.resize(block.slot + 1);
    opened_before_[block.slot] = in_window ? 0 : opened_;
  }
  // Of a block that ends now, or is live still.
  bool WasInWindow(const Block& block, bool in_window) const {
    if (block.slot == Block::kNoSlot) return in_window;
    return block.slot < opened_before_.size() && opened_before_[block.slot] < opened_;
  }

 private:
  std::uint64_t opened_ = 0;
  std::vector<std::uint64_t> opened_before_;  // by slot: windows, when it was allocated; 0: that was in one
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_PASS_WINDOW_BIRTHS_H_
