#include "tools/analyze/data_flow/data_flow_graph.h"

#include <algorithm>
#include <tuple>

namespace memoir {
namespace {

// The use of one storage by a leaf (FindLeaves) and by the events inside of the leaf.
struct Use {
  AllocationId storage = 0;
  bool argument = false;
  bool written = false;      // an operator received the storage, and one of its schemas that fit writes to it
  bool not_written = false;  // an operator received the storage, and its schemas that fit do not write to it
  bool freed = false;
  bool allocated = false;
};

// Returns for each event its leaf: the node of the graph that contains the event. This is the event itself, or an event
// around it. torch.profiler calls such events leaves, although they may contain other events.
std::vector<std::uint32_t> FindLeaves(const EventTree& tree) {
  std::vector<std::uint32_t> leaves(tree.nodes.size(), TreeNode::kNone);
  for (std::uint32_t i = 0; i < tree.nodes.size(); ++i) {
    const TreeNode& node = tree.nodes[i];
    if (node.parent != TreeNode::kNone) leaves[i] = leaves[node.parent];
    if (leaves[i] != TreeNode::kNone) continue;
    if (node.kind != TreeNode::Kind::kRange || node.is_backward || node.fits_schema) leaves[i] = i;
  }
  return leaves;
}

// The events of each leaf, in the order of time. `order` contains the events, and `begin` the index in `order` of each
// leaf's first event.
struct Subtrees {
  std::vector<std::uint32_t> begin;  // by index in EventTree::nodes; the last element is the size of `order`
  std::vector<std::uint32_t> order;
};

Subtrees SortByLeaf(const std::vector<std::uint32_t>& leaves) {
  Subtrees subtrees;
  subtrees.begin.resize(leaves.size() + 1);
  for (const std::uint32_t leaf : leaves) {
    if (leaf != TreeNode::kNone) ++subtrees.begin[leaf + 1];
  }
  for (std::size_t i = 1; i < subtrees.begin.size(); ++i) subtrees.begin[i] += subtrees.begin[i - 1];
  subtrees.order.resize(subtrees.begin.back());
  std::vector<std::uint32_t> next(subtrees.begin.begin(), subtrees.begin.end() - 1);
  for (std::uint32_t i = 0; i < leaves.size(); ++i) {
    if (leaves[i] != TreeNode::kNone) subtrees.order[next[leaves[i]]++] = i;
  }
  return subtrees;
}

class Builder {
 public:
  explicit Builder(const EventTree& tree) : tree_(tree), place_(tree.tensors.size(), kNowhere) {
    graph_.versions.resize(tree.tensors.size());
  }

  void Add(std::uint32_t leaf, absl::Span<const std::uint32_t> subtree) {
    for (const std::uint32_t event : subtree) Note(event);
    std::ranges::sort(uses_, {}, [&](const Use& use) { return std::tuple(tree_.tensors[use.storage], use.storage); });
    graph_.nodes.push_back({leaf, static_cast<std::uint32_t>(graph_.edges.size())});
    for (const Use& use : uses_) {
      place_[use.storage] = kNowhere;
      graph_.edges.push_back(EdgeOf(use));
    }
    uses_.clear();
  }
  DataFlowGraph Take() { return std::move(graph_); }

 private:
  static constexpr std::uint32_t kNowhere = 0xffffffffu;

  Use& UseOf(AllocationId storage) {
    std::uint32_t& place = place_[storage];
    if (place == kNowhere) {
      place = static_cast<std::uint32_t>(uses_.size());
      uses_.push_back({.storage = storage});
    }
    return uses_[place];
  }

  void Note(std::uint32_t event) {
    const TreeNode& node = tree_.nodes[event];
    if (node.kind != TreeNode::Kind::kRange) {
      const AllocationId storage = tree_.allocations[node.call].allocation;
      if (tree_.tensors[storage] == kNoTensor) return;
      Use& use = UseOf(storage);
      (node.kind == TreeNode::Kind::kAllocate ? use.allocated : use.freed) = true;
      return;
    }
    const std::vector<SchemaMatch::Mutation>& written = tree_.calls[node.call].written;
    for (const TreeInput& input : tree_.InputsOf(event)) {
      Use& use = UseOf(input.allocation);
      use.argument = true;
      use.written |= written[input.argument] == SchemaMatch::Mutation::kYes;
      use.not_written |= written[input.argument] == SchemaMatch::Mutation::kNo;
    }
  }

  // An argument counts as written if a fitting schema writes to it, or if no schema fits.
  FlowEdge EdgeOf(const Use& use) {
    FlowEdge edge;
    edge.storage = use.storage;
    edge.mutated = use.written || (use.argument && !use.not_written);
    edge.freed = use.freed;
    edge.version = use.allocated ? FlowEdge::kAllocated : graph_.versions[use.storage];
    if (edge.mutated && !edge.freed && !edge.allocated()) ++graph_.versions[use.storage];
    return edge;
  }

  const EventTree& tree_;
  DataFlowGraph graph_;
  std::vector<Use> uses_;             // of the current leaf
  std::vector<std::uint32_t> place_;  // by AllocationId: index in `uses_`
};

}  // namespace

absl::Span<const FlowEdge> DataFlowGraph::EdgesOf(std::size_t node) const {
  const std::size_t begin = nodes[node].edges;
  const std::size_t end = node + 1 < nodes.size() ? nodes[node + 1].edges : edges.size();
  return absl::MakeConstSpan(edges).subspan(begin, end - begin);
}

DataFlowGraph BuildDataFlowGraph(const EventTree& tree) {
  const std::vector<std::uint32_t> leaves = FindLeaves(tree);
  const Subtrees subtrees = SortByLeaf(leaves);
  Builder builder(tree);
  for (std::uint32_t i = 0; i < leaves.size(); ++i) {
    if (leaves[i] != i) continue;
    builder.Add(
        i, absl::MakeConstSpan(subtrees.order).subspan(subtrees.begin[i], subtrees.begin[i + 1] - subtrees.begin[i]));
  }
  return builder.Take();
}

}  // namespace memoir
