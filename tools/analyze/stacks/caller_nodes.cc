#include "tools/analyze/stacks/caller_nodes.h"

namespace memoir {

std::uint32_t CallerNodes::Child(std::uint32_t parent, CallerNode::Kind kind, std::uint32_t frame) {
  const auto known = children_.find({parent, kind, frame});
  if (known != children_.end()) return known->second;
  // Nodes of other kinds are few and are always added, so that a block without a line always has a node below the root.
  if (kind == CallerNode::Kind::kFrame && nodes_.size() >= most_nodes_) return parent;
  const auto next = static_cast<std::uint32_t>(nodes_.size());
  children_[{parent, kind, frame}] = next;
  nodes_.push_back({kind, frame, parent, nodes_[parent].depth + 1});
  return next;
}

std::uint32_t CallerNodes::FrameNode(std::uint32_t parent, const Frame& frame, const Dictionary& dictionary) {
  const auto [known, added] =
      frame_numbers_.try_emplace({frame.code, frame.line}, static_cast<std::uint32_t>(frames_.size()));
  if (added) frames_.push_back(SourceLineOf(frame, dictionary));
  return Child(parent, CallerNode::Kind::kFrame, known->second);
}

void CallerNodes::LookAtNext(const Dictionary& dictionary) {
  const StackId id{static_cast<std::uint32_t>(node_of_.size())};
  const Stack& stack = dictionary.stack(id);
  const std::uint32_t around = stack.parent.valid() ? node_of_[stack.parent.value] : 0;
  const bool is_node = all_frames_ || lines_.IsOwn(id, dictionary);
  node_of_.push_back(is_node ? FrameNode(around, stack.frame, dictionary) : around);
}

std::uint32_t CallerNodes::NodeOf(const Block& block, const Dictionary& dictionary) {
  const StackId stack = block.line_callstack();
  if (!stack.valid()) return NodeOf(block.in_compiled_region ? CallerNode::Kind::kCompiled : CallerNode::Kind::kNone);
  while (node_of_.size() <= stack.value) LookAtNext(dictionary);
  const std::uint32_t node = node_of_[stack.value];
  // If no frame of the stack has a node, adds a node for the stack's line, as a child of the root.
  return node != 0 ? node : FrameNode(0, lines_.FrameOf(lines_.NumberOf(stack, dictionary)), dictionary);
}

}  // namespace memoir
