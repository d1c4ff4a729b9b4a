#include "tracker/writer/state/range_stack.h"

#include <algorithm>

namespace memoir {

void RangeStack::Push(const OpenRange& range) {
  ++depth_;
  if (kept_.size() == kMaxKeptRanges || kept_.size() + 1 != depth_) return;
  Keep(range);
  if (operator_depth_ == 0 && range.operator_id != 0) operator_depth_ = kept_.size();
}

void RangeStack::Keep(OpenRange range) {
  const auto depth = static_cast<std::int32_t>(kept_.size());
  const OpenRange* around = innermost();
  range.backward = range.role.backward ? depth : around == nullptr ? -1 : around->backward;
  range.optimizer = range.role.optimizer ? depth : around == nullptr ? -1 : around->optimizer;
  range.role.compiled = range.role.compiled || (around != nullptr && around->role.compiled);
  range.role.compiling = range.role.compiling || (around != nullptr && around->role.compiling);
  kept_.push_back(range);
}

void RangeStack::Pop() { SetDepth(depth_ == 0 ? 0 : depth_ - 1); }

void RangeStack::SetDepth(std::uint64_t depth) {
  depth_ = depth;
  const std::uint64_t keep = std::min<std::uint64_t>(depth, kMaxKeptRanges);
  if (keep < kept_.size()) kept_.resize(keep);
  while (kept_.size() < keep) Keep({});
  if (operator_depth_ > kept_.size()) operator_depth_ = 0;
}

}  // namespace memoir
