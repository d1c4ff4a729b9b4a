#include "tools/view/tree_view.h"

#include <cstdint>
#include <vector>

#include "fmt/format.h"
#include "tools/view/capture_text.h"
#include "tools/view/table.h"
#include "tools/view/terminal_text.h"
#include "tools/view/units.h"

namespace memoir {
namespace {

std::vector<std::string> Cells(const std::string& name, const RangeNode& node) {
  return {name,
          node.depth == 0 ? "" : FormatCount(node.calls),
          FormatBytes(node.allocated_bytes),
          FormatBytes(node.net_bytes),
          FormatBytes(node.self_bytes),
          node.depth == 0 ? "" : FormatDuration(node.total_ns)};
}

// Depth is bounded by RangeTreeOptions::depth, so recursion is too.
void AddChildren(const RangeTree& tree, const RangeNode& parent, const std::string& margin, Table& table) {
  for (std::size_t i = 0; i < parent.children.size(); ++i) {
    const RangeNode& node = tree.nodes[parent.children[i]];
    const bool last = i + 1 == parent.children.size();
    table.AddRow(Cells(margin + (last ? "└ " : "├ ") + ShownName(node.name), node));
    AddChildren(tree, node, margin + (last ? "  " : "│ "), table);
  }
}

Json NodeJson(const RangeTree& tree, const RangeNode& node) {
  Json json = {{"name", node.name},
               {"source", node.depth == 0 ? "root" : std::string(ToString(node.source))},
               {"calls", node.calls},
               {"allocated_bytes", node.allocated_bytes},
               {"net_bytes", node.net_bytes},
               {"self_allocations", node.self_allocations},
               {"self_bytes", node.self_bytes},
               {"self_net_bytes", node.self_net_bytes},
               {"total_ns", node.total_ns},
               {"children", Json::array()}};
  for (const std::uint32_t child : node.children) json["children"].push_back(NodeJson(tree, tree.nodes[child]));
  return json;
}

}  // namespace

std::string RenderTree(const Capture& capture, const RangeTree& tree, const Terminal& terminal) {
  Table table({"range", "calls", "allocated", "kept", "itself", "time"});
  if (!tree.nodes.empty()) {
    table.AddRow(Cells("(all threads)", tree.nodes.front()));
    AddChildren(tree, tree.nodes.front(), "", table);
  }
  return RenderWhatRan(capture, terminal) + "\n" + table.Render(terminal, 0) + "\n" +
         RenderLosses(capture, tree.report, terminal);
}

Json TreeJson(const Capture& capture, const RangeTree& tree) {
  Json json = CaptureJson(capture, tree.report, "tree");
  json["root"] = tree.nodes.empty() ? Json() : NodeJson(tree, tree.nodes.front());
  return json;
}

}  // namespace memoir
