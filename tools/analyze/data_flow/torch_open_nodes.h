// What is open on a thread as torch.profiler's tree has it (build_tree in torch/csrc/profiler/collection.cpp): ranges
// and calls of Python functions on one stack, and what ends takes everything that began in it along.
//
//     call of __enter__ ──► range ──► ...      the end of the call ends the range as well: what follows is not in it
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
    std::uint32_t level = 0;               // how many of its kind are around it on the thread
    bool is_call = false;
    bool hidden = false;  // a call of Memoir's own, or in one: `node` is what is around it
    bool calls_module = false;
  };

  std::uint32_t Innermost() const {
    for (std::size_t i = open_.size(); i-- > 0;) {
      if (open_[i].node != TreeNode::kNone) return open_[i].node;
    }
    return TreeNode::kNone;
  }
  // Whether the innermost call is hidden, and with it those that it makes.
  bool HidesCalls() const {
    for (std::size_t i = open_.size(); i-- > 0;) {
      if (open_[i].is_call) return open_[i].hidden;
    }
    return false;
  }
  void Begin(const Node& node) { open_.push_back(node); }
  // Of the kind at this level, and deeper.
  void End(bool is_call, std::uint32_t level) {
    std::size_t cut = open_.size();
    for (std::size_t i = open_.size(); i-- > 0;) {
      if (open_[i].is_call != is_call) continue;
      if (open_[i].level < level) break;
      cut = i;
    }
    open_.resize(cut);
  }
  // The call of a module's __call__ whose module is not known yet; kNone: there is none.
  std::uint32_t TakeModuleCall() {
    for (std::size_t i = open_.size(); i-- > 0;) {
      if (std::exchange(open_[i].calls_module, false)) return open_[i].node;
    }
    return TreeNode::kNone;
  }

 private:
  std::vector<Node> open_;  // outermost first
};

// And the ranges that are open on it whatever torch.profiler thinks, with what they were given.
struct TorchThread {
  struct Frame {
    std::uint32_t node = TreeNode::kNone;
    std::vector<std::uint64_t> impls;  // of its arguments
  };
  std::vector<Frame> frames;  // by depth; those above `open` are kept for their memory
  std::size_t open = 0;
  TorchOpenNodes nodes;

  bool WasGiven(std::uint64_t impl) const {
    const auto has = [&](const Frame& frame) { return std::ranges::find(frame.impls, impl) != frame.impls.end(); };
    return std::any_of(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(open), has);
  }
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_DATA_FLOW_TORCH_OPEN_NODES_H_
