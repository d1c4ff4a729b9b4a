#include "tools/analyze/report/range_paths.h"

#include <algorithm>

#include "tools/model/capture.h"

namespace memoir {

std::uint32_t RangePaths::Child(std::uint32_t parent, const OpenRange& range) {
  // There are fewer than 2^16 nodes and fewer than 2^8 sources.
  const std::uint64_t key =
      (std::uint64_t{parent} << 40) | (std::uint64_t{range.name.value} << 8) | static_cast<std::uint64_t>(range.source);
  const auto known = children_.find(key);
  if (known != children_.end()) return known->second;
  if (nodes_.size() >= kMostNodes) return parent;
  const auto next = static_cast<std::uint32_t>(nodes_.size());
  children_[key] = next;
  nodes_.push_back({range.name, range.source, parent});
  return next;
}

std::uint32_t RangePaths::Follow(ThreadId thread, const RangeStack& stack, std::size_t depth, std::uint32_t root) {
  if (thread.value >= open_.size()) open_.resize(thread.value + std::size_t{1});
  std::vector<OpenPath>& open = open_[thread.value];
  depth = std::min({depth, stack.size(), kMostDepth});
  std::size_t same = std::min(open.size(), depth);
  while (same > 0 && open[same - 1].call != stack[same - 1].call) --same;
  open.resize(same);
  for (std::size_t i = same; i < depth; ++i)
    open.push_back({stack[i].call, Child(i == 0 ? root : open[i - 1].node, stack[i])});
  return open.empty() ? root : open.back().node;
}

std::uint32_t RangePaths::BeforeNode() {
  if (before_ == 0) {
    before_ = static_cast<std::uint32_t>(nodes_.size());
    nodes_.emplace_back();
  }
  return before_;
}

std::uint32_t RangePaths::NodeOf(ThreadId thread, const RangeStack& stack, const ReplayState& state,
                                 const RangeBase& base) {
  const RangeBase& around = stack.empty() ? base : stack.front().base;
  // `around` may name another thread, for which this thread works. The other thread itself works for no third thread.
  const std::uint32_t root = around.depth == 0 ? 0 : Follow(around.thread, state.stack(around.thread), around.depth, 0);
  return stack.empty() ? root : Follow(thread, stack, stack.size(), root);
}

}  // namespace memoir
