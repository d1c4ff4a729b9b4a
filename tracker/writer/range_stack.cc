#include "tracker/writer/range_stack.h"

#include <algorithm>

namespace memoir {

void RangeStack::Push(const OpenRange& range) {
  ++depth_;
  if (kept_.size() == kMaxKeptRanges || kept_.size() + 1 != depth_) return;
  kept_.push_back(range);
  if (operator_depth_ == 0 && range.operator_id != 0) operator_depth_ = kept_.size();
}

void RangeStack::Pop() { SetDepth(depth_ == 0 ? 0 : depth_ - 1); }

void RangeStack::SetDepth(std::uint64_t depth) {
  depth_ = depth;
  kept_.resize(std::min<std::uint64_t>(depth, kMaxKeptRanges));
  if (operator_depth_ > kept_.size()) operator_depth_ = 0;
}

}  // namespace memoir
