#include "tools/analyze/tree/open_nodes.h"

namespace memoir {

std::optional<std::size_t> OpenNodes::Find(ThreadId thread, std::uint32_t level, OpenNode::Kind kind) const {
  if (!thread.valid() || thread.value >= threads_.size()) return std::nullopt;
  const std::vector<OpenNode>& open = threads_[thread.value];
  // Levels of a kind increase from the outermost node on. Finds the outermost node of the kind at `level` or deeper.
  std::optional<std::size_t> found;
  for (std::size_t i = open.size(); i-- > 0;) {
    if (open[i].kind != kind) continue;
    if (open[i].level < level) break;
    found = i;
  }
  return found;
}

std::uint32_t OpenNodes::Around(ThreadId thread, const RangeBase& base) const {
  if (thread.valid() && thread.value < threads_.size() && !threads_[thread.value].empty())
    return threads_[thread.value].back().node;
  if (base.depth == 0 || !base.thread.valid() || base.thread.value >= threads_.size()) return kNoTreeNode;
  // In the tree, the module calls around the innermost range of `base` are already ancestors of its node.
  const std::vector<OpenNode>& open = threads_[base.thread.value];
  for (std::size_t i = open.size(); i-- > 0;) {
    if (open[i].kind == OpenNode::Kind::kRange && open[i].level < base.depth) return open[i].node;
  }
  return kNoTreeNode;
}

std::uint32_t OpenNodes::AroundRange(ThreadId thread, const OpenRange& range) const {
  if (!IsUserRange(range.source) || !thread.valid() || thread.value >= threads_.size())
    return Around(thread, range.base);
  const std::vector<OpenNode>& open = threads_[thread.value];
  std::size_t inside = open.size();  // the outermost __enter__ call in which no range or module call is open
  for (std::size_t i = open.size(); i-- > 0;) {
    if (open[i].kind != OpenNode::Kind::kCall) break;
    if (open[i].enters) inside = i;
  }
  if (inside == open.size()) return Around(thread, range.base);
  return inside == 0 ? kNoTreeNode : open[inside - 1].node;
}

void OpenNodes::Begin(ThreadId thread, const OpenNode& node) {
  if (thread.value >= threads_.size()) threads_.resize(thread.value + 1);
  End(thread, node.level, node.kind, [](const OpenNode&) {});
  threads_[thread.value].push_back(node);
}

void OpenNodes::ForgetModules(ThreadId thread) {
  if (!thread.valid() || thread.value >= threads_.size()) return;
  std::erase_if(threads_[thread.value], [](const OpenNode& node) { return node.kind == OpenNode::Kind::kModule; });
}

OpenNode* OpenNodes::Innermost(ThreadId thread) {
  if (thread.value >= threads_.size() || threads_[thread.value].empty()) return nullptr;
  return &threads_[thread.value].back();
}

}  // namespace memoir
