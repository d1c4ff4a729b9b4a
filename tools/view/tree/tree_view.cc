#include "tools/view/tree/tree_view.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "fmt/format.h"
#include "tools/view/capture/capture_text.h"
#include "tools/view/terminal/table.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/units.h"

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

std::string ShownNodeName(const RangeNode& node) {
  if (node.kind == RangeNode::Kind::kDeeper)
    return fmt::format("({} deeper)", FormatCounted(node.others, "range", "ranges"));
  if (node.kind != RangeNode::Kind::kOther) return ShownName(node.name);
  return node.others == 1 ? "(1 other)" : fmt::format("({} others)", FormatCount(node.others));
}

const char* KindName(RangeNode::Kind kind) {
  switch (kind) {
    case RangeNode::Kind::kRoot:
      return "root";
    case RangeNode::Kind::kNamed:
      return "named";
    case RangeNode::Kind::kOther:
      return "other";
    case RangeNode::Kind::kDeeper:
      return "deeper";
  }
  return "named";
}

// Depth is bounded by RangeTreeOptions::kMostDepth, so recursion is too.
void AddChildren(const RangeTree& tree, const RangeNode& parent, const std::string& margin, Table& table) {
  for (std::size_t i = 0; i < parent.children.size(); ++i) {
    const RangeNode& node = tree.nodes[parent.children[i]];
    const bool last = i + 1 == parent.children.size();
    table.AddRow(Cells(margin + (last ? "└ " : "├ ") + ShownNodeName(node), node));
    AddChildren(tree, node, margin + (last ? "  " : "│ "), table);
  }
}

Json NodeJson(const RangeTree& tree, const RangeNode& node) {
  Json json = {{"name", node.name},
               {"kind", KindName(node.kind)},
               {"source", nullptr},
               {"calls", node.calls},
               {"allocated_bytes", node.allocated_bytes},
               {"net_bytes", node.net_bytes},
               {"self_allocations", node.self_allocations},
               {"self_bytes", node.self_bytes},
               {"self_net_bytes", node.self_net_bytes},
               {"total_ns", node.total_ns},
               {"children", Json::array()}};
  if (node.kind == RangeNode::Kind::kNamed) json["source"] = std::string(ToString(node.source));
  if (node.kind == RangeNode::Kind::kOther || node.kind == RangeNode::Kind::kDeeper) {
    json["name"] = fmt::format("({})", KindName(node.kind));
    json["rows"] = node.others;
  }
  for (const std::uint32_t child : node.children) json["children"].push_back(NodeJson(tree, tree.nodes[child]));
  return json;
}

}  // namespace

std::string RenderTree(const Capture& capture, const RangeTree& tree, const Terminal& terminal) {
  Table table({"range", "calls", "allocated", "kept", "itself", "time"});
  constexpr std::string_view kColumns =
      "allocated, kept (of it, live at the end): in the range and all inside it; itself: allocated in no inner range; "
      "time: all calls together";
  if (!tree.nodes.empty()) {
    table.AddRow(Cells("(all threads)", tree.nodes.front()));
    AddChildren(tree, tree.nodes.front(), "", table);
  }
  const auto is_cut = [](const RangeNode& node) { return node.kind == RangeNode::Kind::kDeeper; };
  const bool cut = std::ranges::any_of(tree.nodes, is_cut);
  const std::string note = std::string(kColumns) + (cut ? "; deeper: --depth N shows N levels, --depth 0 all" : "");
  return RenderWhatRan(capture, terminal) + "\n" + table.Render(terminal, 0) + Wrapped(note, terminal.width, 0) +
         "\n\n" + RenderLosses(capture, tree.report, terminal);
}

Json TreeJson(const Capture& capture, const RangeTree& tree) {
  Json json = CaptureJson(capture, tree.report, "tree");
  json["root"] = tree.nodes.empty() ? Json() : NodeJson(tree, tree.nodes.front());
  return json;
}

}  // namespace memoir
