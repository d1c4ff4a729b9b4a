#include "tools/view/torch_profiler/data_flow_view.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "tools/view/json/json.h"
#include "tools/view/terminal/terminal_text.h"

namespace memoir {
namespace {

constexpr std::size_t kFlushBytes = 1 << 20;

// Collects text, and passes it to `write` in large pieces.
class Pieces {
 public:
  explicit Pieces(const TextWriter& write) : write_(write) {}
  ~Pieces() { write_(text_); }
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;
  void Add(std::string_view text) {
    text_ += text;
    if (text_.size() < kFlushBytes) return;
    write_(text_);
    text_.clear();
  }

 private:
  const TextWriter& write_;
  std::string text_;
};

std::string_view EventName(const EventTree& tree, const TreeNode& event) {
  constexpr std::string_view kPrefix = "torch::autograd::";
  if (event.kind != TreeNode::Kind::kRange) return "[memory]";
  std::string_view name = tree.names[event.name];
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  return name;
}

std::string TensorsOf(const EventTree& tree, const DataFlowGraph& graph, std::size_t node, bool inputs) {
  std::string text;
  for (const FlowEdge& edge : graph.EdgesOf(node)) {
    if (!tree.IsChosen(edge.storage) || (inputs ? !edge.is_input() : !edge.is_output())) continue;
    text += fmt::format("{}T{}(v{}{})", text.empty() ? "" : ", ", tree.tensors[edge.storage],
                        inputs ? edge.version : edge.output_version(), inputs && edge.freed ? "*" : "");
  }
  return text;
}

std::string TensorJson(const EventTree& tree, const FlowEdge& edge, std::uint32_t version) {
  return fmt::format(R"({{"tensor":{},"storage":{},"version":{},"bytes":{},"device":{}}})", tree.tensors[edge.storage],
                     edge.storage, version, tree.bytes[edge.storage],
                     Quoted(tree.device_names[tree.devices[edge.storage].value]));
}

std::string ListJson(const EventTree& tree, const DataFlowGraph& graph, std::size_t node, std::string_view list) {
  std::string text;
  for (const FlowEdge& edge : graph.EdgesOf(node)) {
    const bool in = list == "inputs"    ? edge.is_input()
                    : list == "outputs" ? edge.is_output()
                                        : edge.freed && (list == "intermediates") == edge.allocated();
    if (!in || !tree.IsChosen(edge.storage)) continue;
    if (!text.empty()) text += ',';
    text += TensorJson(tree, edge, list == "outputs" ? edge.output_version() : edge.allocated() ? 0 : edge.version);
  }
  return fmt::format(R"("{}":[{}])", list, text);
}

// Returns true if no blocks are selected, or if the node reads, makes or frees a selected block.
bool IsOfChosen(const EventTree& tree, const DataFlowGraph& graph, std::size_t node) {
  return tree.chosen.empty() ||
         std::ranges::any_of(graph.EdgesOf(node), [&](const FlowEdge& edge) { return tree.IsChosen(edge.storage); });
}

}  // namespace

std::string FlowLine(const EventTree& tree, const DataFlowGraph& graph, std::size_t node) {
  const std::string inputs = TensorsOf(tree, graph, node, true), outputs = TensorsOf(tree, graph, node, false);
  if (inputs.empty() && outputs.empty()) return "";
  const std::string_view name = EventName(tree, tree.nodes[graph.nodes[node].event]);
  std::string line = fmt::format("{:<25} {:<15}  ->  {}", name, inputs, outputs);
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

void WriteDataFlowText(const EventTree& tree, const DataFlowGraph& graph, const TextWriter& write) {
  Pieces pieces(write);
  for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
    const std::string line = FlowLine(tree, graph, node);
    if (!line.empty()) pieces.Add(Escaped(line) + "\n");
  }
}

void WriteDataFlowJson(const EventTree& tree, const DataFlowGraph& graph, const TextWriter& write) {
  Pieces pieces(write);
  pieces.Add(R"({"version":1,"view":"data-flow","nodes":[)");
  bool is_first = true;
  for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
    if (!IsOfChosen(tree, graph, node)) continue;
    const TreeNode& event = tree.nodes[graph.nodes[node].event];
    pieces.Add(fmt::format(R"({}{{"name":{},"time_ns":{},"backward":{},{},{},{},{}}})",
                           std::exchange(is_first, false) ? "\n" : ",\n", Quoted(EventName(tree, event)), event.ns,
                           event.in_backward, ListJson(tree, graph, node, "inputs"),
                           ListJson(tree, graph, node, "outputs"), ListJson(tree, graph, node, "freed"),
                           ListJson(tree, graph, node, "intermediates")));
  }
  pieces.Add("\n]}\n");
}

void WriteDataFlowDot(const EventTree& tree, const DataFlowGraph& graph, const TextWriter& write) {
  Pieces pieces(write);
  pieces.Add("digraph data_flow {\n  node [fontname=\"sans-serif\"];\n");
  std::vector<bool> drawn(tree.tensors.size());
  const auto version = [&](const FlowEdge& edge, std::uint32_t number) {
    const std::string id = fmt::format("s{}v{}", edge.storage, number);
    pieces.Add(fmt::format("  {} [label=\"T{}(v{})\\n{} B\"];\n", id, tree.tensors[edge.storage], number,
                           tree.bytes[edge.storage]));
    drawn[edge.storage] = true;
    return id;
  };
  for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
    if (FlowLine(tree, graph, node).empty()) continue;
    const std::string name(EventName(tree, tree.nodes[graph.nodes[node].event]));
    if (name == "[memory]") continue;
    pieces.Add(fmt::format("  n{} [shape=box, label={}];\n", node, Quoted(name)));
    for (const FlowEdge& edge : graph.EdgesOf(node)) {
      if (!tree.IsChosen(edge.storage)) continue;
      if (edge.is_input()) pieces.Add(fmt::format("  {} -> n{};\n", version(edge, edge.version), node));
      if (edge.is_output()) pieces.Add(fmt::format("  n{} -> {};\n", node, version(edge, edge.output_version())));
    }
  }
  pieces.Add("}\n");
}

void WriteTreeText(const EventTree& tree, const TextWriter& write) {
  Pieces pieces(write);
  WalkDepthFirst(tree, [&](std::size_t depth, const TreeNode& node) {
    const bool is_range = node.kind == TreeNode::Kind::kRange;
    const std::string_view name = is_range ? std::string_view(tree.names[node.name]) : "[memory]";
    pieces.Add(fmt::format("{:{}}{}\n", "", depth * 2, name));
  });
}

}  // namespace memoir
