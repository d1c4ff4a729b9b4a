#include "tools/analyze/stacks/module_operator_nodes.h"

#include <algorithm>

#include "tools/analyze/grouping/grouping.h"
#include "tools/analyze/pass/window/groupings.h"

namespace memoir {
namespace {

// Module paths have few components; only in a damaged capture may they have thousands.
constexpr std::uint32_t kMostParts = 64;

}  // namespace

std::uint32_t ModuleOperatorNodes::Child(std::uint32_t parent, CallerNode::Kind kind, std::uint32_t frame) {
  const std::pair key((std::uint64_t{parent} << 32) | frame, kind);
  const auto [known, added] = children_.try_emplace(key, static_cast<std::uint32_t>(nodes_.size()));
  if (added) nodes_.push_back({kind, frame, parent, nodes_[parent].depth + 1});
  return known->second;
}

std::uint32_t ModuleOperatorNodes::FrameNode(std::uint32_t parent, std::string_view name) {
  const auto [known, added] = frame_numbers_.try_emplace(std::string(name), static_cast<std::uint32_t>(frames_.size()));
  if (added) frames_.push_back({"", std::string(name), 0});
  return Child(parent, CallerNode::Kind::kFrame, known->second);
}

// Returns the node of a module. Its parent is the node of the path around it: "blocks" for "blocks.3", and the root
// module for "blocks".
std::uint32_t ModuleOperatorNodes::ModuleNode(ModuleId id, const Dictionary& dictionary) {
  if (!id.valid()) return FrameNode(0, GroupingFactsOf(GroupBy::kModule).none);
  if (node_of_module_.size() <= id.value) node_of_module_.resize(id.value + std::size_t{1});
  if (node_of_module_[id.value] != 0) return node_of_module_[id.value];
  const Module& module = dictionary.module(id);
  const std::string_view path = module.path;
  std::uint32_t node = FrameNode(0, module.root);
  std::size_t end = 0;
  for (std::uint32_t parts = 1; !path.empty() && end < path.size(); ++parts) {
    end = parts < kMostParts ? std::min(path.find('.', end == 0 ? 0 : end + 1), path.size()) : path.size();
    node = FrameNode(node, path.substr(0, end));
  }
  return node_of_module_[id.value] = node;
}

std::uint32_t ModuleOperatorNodes::NodeOf(const Block& block, const Dictionary& dictionary) {
  const std::uint32_t module = ModuleNode(block.module, dictionary);
  const NameId maker = MakerOf(block);
  std::uint32_t& node = node_of_operator_[{module, maker}];
  if (node != 0) return node;
  const std::string_view none =
      block.in_compiled_region ? std::string_view(kCompiledLabel) : GroupingFactsOf(GroupBy::kOperator).none;
  return node = FrameNode(module, maker.valid() ? dictionary.text(maker) : none);
}

}  // namespace memoir
