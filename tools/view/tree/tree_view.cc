#include "tools/view/tree/tree_view.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "fmt/format.h"
#include "tools/model/kernel_name.h"
#include "tools/view/capture/capture_text.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/text_table.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

// Deeper levels are shown by a number, because an indent of their depth would leave no room for names.
constexpr std::uint32_t kMostIndented = 8;
constexpr std::size_t kWide = 110;
constexpr std::string_view kEngine = "autograd::engine::evaluate_function: ";

std::vector<std::string> Cells(const std::string& name, const RangeNode& node) {
  const bool is_root = node.kind == RangeNode::Kind::kRoot;
  return {name,
          is_root ? "" : FormatCount(node.calls),
          FormatBytes(node.allocated_bytes),
          FormatBytes(node.bytes_at_peak),
          FormatBytes(node.net_bytes),
          is_root ? "" : FormatDuration(node.total_ns)};
}

const std::string& Place(const Module& module) { return module.path.empty() ? module.root : module.path; }

// Returns the path relative to the module around it.
std::string_view PathInside(const RangeTree& tree, const RangeNode& node) {
  const RangeNode& parent = tree.nodes[node.parent];
  std::string_view path = node.name;
  const bool inside = parent.kind == RangeNode::Kind::kModule && parent.module->root == node.module->root;
  if (!inside || parent.module->path.empty()) return path;
  const std::string prefix = parent.module->path + ".";
  return path.starts_with(prefix) ? path.substr(prefix.size()) : path;
}

// Returns "of MODULE (OPERATOR)" for an autograd node. Begins with the node's name, unless the engine's range around it
// shows this name. Leaves out the operator if there is little room.
std::string BackwardName(const RangeTree& tree, const RangeNode& node, bool wide) {
  const std::string& around = tree.nodes[node.parent].name;
  const bool named = around.starts_with(kEngine) && around.substr(kEngine.size()) == node.name;
  std::string text = named ? "" : ShownName(node.name) + " ";
  if (!node.module) return text + "of " + ShownName(node.forward);
  text += "of " + ShownName(Place(*node.module));
  return node.forward.empty() || !wide ? text : fmt::format("{} ({})", text, ShownName(node.forward));
}

std::string NodeName(const RangeTree& tree, const RangeNode& node, bool wide) {
  const std::string_view name = node.name;
  if (node.kind == RangeNode::Kind::kModule)
    return fmt::format("{} ({})", ShownName(PathInside(tree, node)), ShownName(node.module->class_name));
  if (node.kind == RangeNode::Kind::kCall) {
    const std::string_view file = std::string_view(node.file).substr(node.file.rfind('/') + 1);
    return file.empty() ? ShownName(name) : fmt::format("{} ({})", ShownName(name), ShownName(file));
  }
  if (node.module || !node.forward.empty()) return BackwardName(tree, node, wide);
  return name.starts_with(kEngine) ? "engine: " + ShownName(name.substr(kEngine.size())) : ShownName(name);
}

std::string ShownNodeName(const RangeTree& tree, const RangeNode& node, bool wide) {
  if (node.kind == RangeNode::Kind::kRoot) return "(all threads)";
  if (node.kind == RangeNode::Kind::kOther)
    return node.others == 1 ? "(1 other)" : fmt::format("({} others)", FormatCount(node.others));
  std::string text = NodeName(tree, node, wide);
  for (const std::uint32_t child : node.children) {
    if (tree.nodes[child].kind == RangeNode::Kind::kDeeper)
      text += fmt::format(" +{}", FormatCount(tree.nodes[child].others));
  }
  if (node.unfinished == 0) return text;
  return node.unfinished == node.calls ? text + " (no end)"
                                       : fmt::format("{} ({} without end)", text, FormatCount(node.unfinished));
}

// Returns the name of a kernel, without template arguments.
std::string KernelText(const std::string& symbol) {
  if (symbol.empty()) return "?";
  const std::string name = ShortKernelName(symbol);
  return ShownName(name.substr(0, name.find("<...>")));
}

// Returns "[kernel] reduce_kernel cuda:0" or "[cudaMemcpyAsync] 4.0 KiB host to device, cuda:0".
std::string CallName(const TreeMemory& call) {
  std::string text = fmt::format("[{}] ", call.action == MemoryAction::kLaunch ? "kernel" : ToString(call.device_call));
  if (call.action == MemoryAction::kLaunch) text += KernelText(call.kernel);
  if (call.bytes > 0) text += FormatBytes(call.bytes);
  std::string kind(ToString(call.copy_kind));
  std::ranges::replace(kind, '_', ' ');
  if (!kind.empty()) text += " " + kind + ",";
  if (!text.ends_with(' ')) text += ' ';
  text += call.device;
  return call.stream == 0 ? text : fmt::format("{} stream {:#x}", text, call.stream);
}

std::string MemoryName(const TreeMemory& memory) {
  std::string text;
  if (IsDeviceCall(memory.action)) return CallName(memory);
  switch (memory.action) {
    case MemoryAction::kAllocate:
      text = "allocated";
      break;
    case MemoryAction::kFree:
      text = "freed";
      break;
    case MemoryAction::kSegmentAllocate:
    case MemoryAction::kSegmentMap:
      text = "reserved";
      break;
    case MemoryAction::kSegmentFree:
    case MemoryAction::kSegmentUnmap:
      text = "reserved, given back";
      break;
    case MemoryAction::kDriverAllocate:
      text = fmt::format("driver {}", ToString(memory.call));
      break;
    case MemoryAction::kDriverFree:
      text = fmt::format("driver {}, freed", ToString(memory.call));
      break;
    case MemoryAction::kDriverRefused:
      text = fmt::format("driver {}, refused", ToString(memory.call));
      break;
    case MemoryAction::kOutOfMemory:
      text = "out of memory, asked for";
      break;
    case MemoryAction::kLaunch:
    case MemoryAction::kDeviceCall:
      break;
    case MemoryAction::kBefore:
      text = "before the window";
      break;
    case MemoryAction::kElsewhere:
      text = "by other threads";
      break;
  }
  text = fmt::format("[{}] {}", text, memory.device);
  if (memory.stream != 0) text += fmt::format(" stream {:#x}", memory.stream);
  if (!memory.library.empty()) text += " " + ShownName(memory.library);
  return text;
}

bool IsLive(MemoryAction action) {
  return action == MemoryAction::kAllocate || action == MemoryAction::kBefore || action == MemoryAction::kElsewhere;
}

std::vector<std::string> MemoryCells(const std::string& name, const TreeMemory& memory) {
  if (IsDeviceCall(memory.action))
    return {name, FormatCount(memory.count), "", "", "", memory.ns == 0 ? "" : FormatDuration(memory.ns)};
  const auto bytes = static_cast<std::int64_t>(memory.bytes);
  const bool added = memory.action != MemoryAction::kBefore && memory.action != MemoryAction::kElsewhere;
  return {name, FormatCount(memory.count),
          added ? FormatSignedBytes(ReturnsMemory(memory.action) ? -bytes : bytes) : "",
          IsLive(memory.action) ? FormatBytes(memory.bytes_at_peak) : "",
          IsLive(memory.action) ? FormatBytes(memory.net_bytes) : ""};
}

// Returns true if `memory` shows something that the row of `node` does not show.
bool IsShown(const RangeNode& node, const TreeMemory& memory) {
  return memory.action != MemoryAction::kAllocate || memory.bytes != node.allocated_bytes;
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
    case RangeNode::Kind::kModule:
      return "module";
    case RangeNode::Kind::kCall:
      return "call";
  }
  return "named";
}

std::string Margin(const std::string& margin, std::uint32_t depth, bool last) {
  return depth > kMostIndented ? fmt::format("  …{} ", depth) : margin + (last ? "└ " : "├ ");
}

// Keeps the most frequent CUDA calls, after the rows of memory.
void CutCalls(std::vector<const TreeMemory*>& leaves) {
  constexpr std::ptrdiff_t kMostCalls = 5;
  const auto calls =
      std::ranges::stable_partition(leaves, [](const TreeMemory* leaf) { return !IsDeviceCall(leaf->action); });
  std::ranges::stable_sort(calls, [](const TreeMemory* a, const TreeMemory* b) { return a->count > b->count; });
  if (std::ranges::distance(calls) > kMostCalls) leaves.erase(calls.begin() + kMostCalls, leaves.end());
}

// Adds the rows below `parent`. The recursion is bounded by RangeTreeOptions::kMostDepth.
void AddChildren(const RangeTree& tree, const RangeNode& parent, const std::string& margin, bool wide,
                 TextTable& table) {
  std::vector<const TreeMemory*> leaves;
  for (const TreeMemory& memory : parent.memory) {
    if (IsShown(parent, memory)) leaves.push_back(&memory);
  }
  std::vector<std::uint32_t> children;
  for (const std::uint32_t child : parent.children) {
    if (tree.nodes[child].kind != RangeNode::Kind::kDeeper) children.push_back(child);
  }
  CutCalls(leaves);
  // On the last level, a node's own memory includes its children's memory.
  const bool cut = children.size() != parent.children.size();
  if (cut) leaves.clear();
  const std::uint32_t depth = parent.depth + 1;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const bool last = children.empty() && i + 1 == leaves.size();
    table.AddRow(MemoryCells(Margin(margin, depth, last) + MemoryName(*leaves[i]), *leaves[i]));
  }
  for (std::size_t i = 0; i < children.size(); ++i) {
    const RangeNode& node = tree.nodes[children[i]];
    const bool last = i + 1 == children.size();
    table.AddRow(Cells(Margin(margin, depth, last) + ShownNodeName(tree, node, wide), node));
    AddChildren(tree, node, depth >= kMostIndented ? margin : margin + (last ? "  " : "│ "), wide, table);
  }
}

Json ModuleJson(const std::optional<Module>& module) {
  if (!module) return nullptr;
  return {{"path", module->path}, {"root", module->root}, {"class", module->class_name}};
}

Json MemoryJson(const TreeMemory& memory) {
  const auto bytes = static_cast<std::int64_t>(memory.bytes);
  Json json = {{"action", std::string(ToString(memory.action))},
               {"device", memory.device},
               {"count", memory.count},
               {"bytes", ReturnsMemory(memory.action) ? -bytes : bytes}};
  if (IsDeviceCall(memory.action)) {
    json["call"] = std::string(ToString(memory.device_call));
    if (memory.action == MemoryAction::kLaunch) json["kernel"] = memory.kernel.empty() ? Json() : Json(memory.kernel);
    if (memory.copy_kind != v1::COPY_KIND_UNKNOWN) json["kind"] = std::string(ToString(memory.copy_kind));
    json["total_ns"] = memory.ns;
  }
  if (memory.stream != 0) json["stream"] = fmt::format("{:#x}", memory.stream);
  if (memory.call != v1::DRIVER_CALL_UNKNOWN) json["call"] = std::string(ToString(memory.call));
  if (!memory.library.empty()) json["library"] = memory.library;
  if (!IsLive(memory.action)) return json;
  json["bytes_at_peak"] = memory.bytes_at_peak;
  json["net_bytes"] = memory.net_bytes;
  return json;
}

Json NodeJson(const RangeTree& tree, const RangeNode& node) {
  Json json = {{"name", node.name},
               {"kind", KindName(node.kind)},
               {"source", nullptr},
               {"calls", node.calls},
               {"allocated_bytes", node.allocated_bytes},
               {"net_bytes", node.net_bytes},
               {"bytes_at_peak", node.bytes_at_peak},
               {"freed_bytes", node.freed_bytes},
               {"self_allocations", node.self_allocations},
               {"self_bytes", node.self_bytes},
               {"self_net_bytes", node.self_net_bytes},
               {"total_ns", node.total_ns},
               {"unfinished_calls", node.unfinished},
               {"module", ModuleJson(node.module)},
               {"forward", nullptr},
               {"memory", Json::array()},
               {"children", Json::array()}};
  if (node.kind == RangeNode::Kind::kNamed) json["source"] = std::string(ToString(node.source));
  if (node.kind == RangeNode::Kind::kCall) json["file"] = node.file;
  if (!node.forward.empty()) json["forward"] = node.forward;
  if (node.kind == RangeNode::Kind::kOther || node.kind == RangeNode::Kind::kDeeper) {
    json["name"] = fmt::format("({})", KindName(node.kind));
    json["rows"] = node.others;
  }
  for (const TreeMemory& memory : node.memory) json["memory"].push_back(MemoryJson(memory));
  for (const std::uint32_t child : node.children) json["children"].push_back(NodeJson(tree, tree.nodes[child]));
  return json;
}

// Describes how many nodes are not shown, and how to show them.
std::string CutNote(const RangeTree& tree) {
  std::string note;
  const std::uint64_t hidden = tree.all_nodes - tree.shown_nodes;
  if (hidden > 0) {
    note += fmt::format("{} of {} nodes are not shown: --depth 0 --top 0 shows all, --grep TEXT finds some. ",
                        FormatCount(hidden), FormatCount(tree.all_nodes));
    note += "+N: so many inside. ";
  }
  if (tree.too_many > 0)
    note += fmt::format("More than 2^20 nodes: {} are counted with what is around them. ",
                        FormatCounted(tree.too_many, "call", "calls"));
  if (tree.too_deep > 0)
    note += fmt::format("{} deeper than {} levels are counted with what is around them. ",
                        FormatCounted(tree.too_deep, "call", "calls"), RangeTreeOptions::kMostDepth);
  return note;
}

}  // namespace

std::string RenderTree(const Capture& capture, const RangeTree& tree, const Terminal& terminal) {
  TextTable table({"name", "calls", "allocated", "at peak", "kept", "time"});
  constexpr std::string_view kColumns =
      "allocated; at peak (of it, live at the peak of its device); kept (of it, live at the end): under the node and "
      "all inside it; [freed] and other rows with a sign are in no sum; time: all calls together. ";
  if (!tree.nodes.empty()) {
    table.AddRow(Cells(ShownNodeName(tree, tree.nodes.front(), true), tree.nodes.front()));
    AddChildren(tree, tree.nodes.front(), "", terminal.width >= kWide, table);
  }
  std::string note = CutNote(tree) + std::string(kColumns);
  note.pop_back();
  return RenderProgram(capture, terminal) + "\n" + table.Render(terminal, 0) + Wrapped(note, terminal.width, 0) +
         "\n\n" + RenderLosses(capture, tree.report, terminal);
}

Json TreeJson(const Capture& capture, const RangeTree& tree) {
  Json json = CaptureJson(capture, tree.report, "tree");
  json["all_nodes"] = tree.all_nodes;
  json["shown_nodes"] = tree.shown_nodes;
  json["too_many_calls"] = tree.too_many;
  json["too_deep_calls"] = tree.too_deep;
  json["root"] = tree.nodes.empty() ? Json() : NodeJson(tree, tree.nodes.front());
  return json;
}

}  // namespace memoir
