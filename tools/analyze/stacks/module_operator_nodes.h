// Nested modules, and the operators that allocated in them, as a tree of the same form as CallerNodes. Used for
// recordings without Python stacks.
//
//     Net ──► blocks.3 ──► blocks.3.mlp ──► aten::linear
//
// An object serves one replay, because the dictionary must stay the same.
#ifndef TOOLS_ANALYZE_STACKS_MODULE_OPERATOR_NODES_H_
#define TOOLS_ANALYZE_STACKS_MODULE_OPERATOR_NODES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/analyze/grouping/source_lines.h"
#include "tools/analyze/stacks/caller_nodes.h"
#include "tools/model/event/dictionary.h"
#include "tools/model/event/event.h"

namespace memoir {

class ModuleOperatorNodes {
 public:
  ModuleOperatorNodes() { nodes_.emplace_back(); }

  std::uint32_t NodeOf(const Block& block, const Dictionary& dictionary);
  std::uint32_t NodeOf(CallerNode::Kind kind) { return Child(0, kind, 0); }

  const std::vector<CallerNode>& nodes() const { return nodes_; }  // a parent comes before its children; [0] is the top
  // Names are in SourceLine::function; file and line are empty.
  const std::vector<SourceLine>& frames() const { return frames_; }
  static std::string Missing(const Dictionary&) { return ""; }

 private:
  std::uint32_t Child(std::uint32_t parent, CallerNode::Kind kind, std::uint32_t frame);
  std::uint32_t FrameNode(std::uint32_t parent, std::string_view name);
  std::uint32_t ModuleNode(ModuleId module, const Dictionary& dictionary);

  std::vector<CallerNode> nodes_;
  std::vector<SourceLine> frames_;
  std::vector<std::uint32_t> node_of_module_;  // by ModuleId; 0: not made yet
  // By the module's node and the operator.
  absl::flat_hash_map<std::pair<std::uint32_t, NameId>, std::uint32_t> node_of_operator_;
  absl::flat_hash_map<std::pair<std::uint64_t, CallerNode::Kind>, std::uint32_t> children_;
  absl::flat_hash_map<std::string, std::uint32_t> frame_numbers_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_STACKS_MODULE_OPERATOR_NODES_H_
