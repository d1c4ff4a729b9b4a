#include "tools/analyze/tree/open_nodes.h"

#include <algorithm>

namespace memoir {

std::optional<std::size_t> OpenNodes::Find(ThreadId thread, std::uint32_t level, bool is_module) const {
  if (!thread.valid() || thread.value >= threads_.size()) return std::nullopt;
  const std::vector<OpenNode>& open = threads_[thread.value];
  // Levels of a kind grow from the outermost on: the first one that is not below this.
  std::optional<std::size_t> found;
  for (std::size_t i = open.size(); i-- > 0;) {
    if (open[i].is_module != is_module) continue;
    if (open[i].level < level) break;
    found = i;
  }
  return found;
}

std::uint32_t OpenNodes::Around(ThreadId thread, const RangeBase& base) const {
  if (thread.valid() && thread.value < threads_.size() && !threads_[thread.value].empty())
    return threads_[thread.value].back().node;
  if (base.depth == 0 || !base.thread.valid() || base.thread.value >= threads_.size()) return kNoTreeNode;
  // Of that thread the calls of modules around its ranges are around this, too.
  const std::vector<OpenNode>& open = threads_[base.thread.value];
  for (std::size_t i = open.size(); i-- > 0;) {
    if (!open[i].is_module && open[i].level < base.depth) return open[i].node;
  }
  return kNoTreeNode;
}

void OpenNodes::Begin(ThreadId thread, const OpenNode& node) {
  if (thread.value >= threads_.size()) threads_.resize(thread.value + 1);
  if (const std::optional<std::size_t> at = Find(thread, node.level, node.is_module)) {
    std::vector<OpenNode>& open = threads_[thread.value];
    if (node.is_module) {
      EndModule(thread, node.level, [](const OpenNode&) {});
    } else {
      open.resize(*at);
    }
  }
  threads_[thread.value].push_back(node);
}

void OpenNodes::ForgetModules(ThreadId thread) {
  if (!thread.valid() || thread.value >= threads_.size()) return;
  std::erase_if(threads_[thread.value], [](const OpenNode& node) { return node.is_module; });
}

OpenNode* OpenNodes::Innermost(ThreadId thread) {
  if (thread.value >= threads_.size() || threads_[thread.value].empty()) return nullptr;
  return &threads_[thread.value].back();
}

}  // namespace memoir
