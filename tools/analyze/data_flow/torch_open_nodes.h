// The open nodes of a thread as in torch.profiler's tree (build_tree in torch/csrc/profiler/collection.cpp): ranges and
// Python calls on one stack. The end of a node also ends all nodes that began inside of it.
//
//     call of __enter__ ──► range ──► ...      the end of the call also ends the range: later nodes are outside
#ifndef TOOLS_ANALYZE_DATA_FLOW_TORCH_OPEN_NODES_H_
#define TOOLS_ANALYZE_DATA_FLOW_TORCH_OPEN_NODES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tools/analyze/data_flow/event_tree.h"

namespace memoir {

class TorchOpenNodes {
 public:
  struct Node {
    std::uint32_t node = TreeNode::kNone;  // kNone: not in the tree
    std::uint32_t level = 0;               // number of open nodes of the same kind around this node on the thread
    bool is_call = false;
    bool hidden = false;  // a call of Memoir's code, or inside of such a call; `node` is then the node around the call
    // True for a call of Module.__call__ whose module is still unknown.
    bool calls_module = false;
  };

  std::uint32_t Innermost() const {
    for (std::size_t i = open_.size(); i-- > 0;) {
      if (open_[i].node != TreeNode::kNone) return open_[i].node;
    }
    return TreeNode::kNone;
  }
  // Returns true if the innermost call is hidden. The calls that a hidden call makes are also hidden.
  bool HidesCalls() const {
    for (std::size_t i = open_.size(); i-- > 0;) {
      if (open_[i].is_call) return open_[i].hidden;
    }
    return false;
  }
  void Begin(const Node& node) { open_.push_back(node); }
  // Ends the node of this kind at this level, and all nodes inside of it.
  void End(bool is_call, std::uint32_t level) {
    std::size_t cut = open_.size();
    for (std::size_t i = open_.size(); i-- > 0;) {
      if (open_[i].is_call != is_call) continue;
      if (open_[i].level < level) break;
      cut = i;
    }
    open_.resize(cut);
  }
  // Returns the node of the innermost open call of Module.__call__ whose module is still unknown. From then on the
  // module counts as known. kNone if the modules of all calls are known.
  std::uint32_t TakeModuleCall() {
    for (std::size_t i = open_.size(); i-- > 0;) {
      if (std::exchange(open_[i].calls_module, false)) return open_[i].node;
    }
    return TreeNode::kNone;
  }

 private:
  std::vector<Node> open_;  // outermost first
};

// A thread in torch.profiler's tree. `nodes`: the nodes that are open in the tree. `frames`: the ranges that are open
// in the recording, with their arguments.
struct TorchThread {
  struct Frame {
    std::uint32_t node = TreeNode::kNone;
    std::vector<std::uint64_t> impls;  // TensorImpls of the arguments
  };
  std::vector<Frame> frames;  // by depth; entries from index `open` on are closed and kept for reuse
  std::size_t open = 0;
  TorchOpenNodes nodes;

  bool WasGiven(std::uint64_t impl) const {
    const auto has = [&](const Frame& frame) { return std::ranges::find(frame.impls, impl) != frame.impls.end(); };
    return std::any_of(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(open), has);
  }
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_DATA_FLOW_TORCH_OPEN_NODES_H_
