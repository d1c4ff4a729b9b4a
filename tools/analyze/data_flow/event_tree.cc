#include "tools/analyze/data_flow/event_tree.h"

#include <algorithm>

namespace memoir {

absl::Span<const TreeInput> EventTree::InputsOf(std::uint32_t node) const {
  const std::size_t begin = nodes[node].inputs;
  const std::size_t end = node + 1 < nodes.size() ? nodes[node + 1].inputs : inputs.size();
  return absl::MakeConstSpan(inputs).subspan(begin, end - begin);
}

void WalkDepthFirst(const EventTree& tree, const std::function<void(std::size_t depth, const TreeNode& node)>& see) {
  std::vector<std::uint32_t> first(tree.nodes.size(), TreeNode::kNone), next(tree.nodes.size(), TreeNode::kNone);
  std::uint32_t root = TreeNode::kNone;
  for (std::uint32_t i = static_cast<std::uint32_t>(tree.nodes.size()); i-- > 0;) {
    std::uint32_t& head = tree.nodes[i].parent == TreeNode::kNone ? root : first[tree.nodes[i].parent];
    next[i] = head;
    head = i;
  }
  std::size_t depth = 0;
  for (std::uint32_t i = root; i != TreeNode::kNone;) {
    see(depth, tree.nodes[i]);
    if (first[i] != TreeNode::kNone) {
      ++depth;
      i = first[i];
      continue;
    }
    while (i != TreeNode::kNone && next[i] == TreeNode::kNone) {
      i = tree.nodes[i].parent;
      if (i != TreeNode::kNone) --depth;
    }
    if (i != TreeNode::kNone) i = next[i];
  }
}

void NotePeak(const DeviceMemory& memory, DeviceId device, EventTree& tree) {
  if (!memory.caching()) return;
  if (tree.peaks.size() <= device.value) tree.peaks.resize(device.value + 1);
  EventTree::Peak& peak = tree.peaks[device.value];
  peak.allocated = std::max(peak.allocated, memory.allocated().all);
  peak.reserved = std::max(peak.reserved, memory.reserved().all);
}

std::vector<AllocationId> TensorStorages(const EventTree& tree) {
  std::vector<AllocationId> storages;
  for (AllocationId storage = 0; storage < tree.tensors.size(); ++storage) {
    if (tree.tensors[storage] != kNoTensor) storages.push_back(storage);
  }
  std::ranges::stable_sort(storages, {}, [&](AllocationId storage) { return tree.tensors[storage]; });
  return storages;
}

}  // namespace memoir
