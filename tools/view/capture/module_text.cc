#include "tools/view/capture/module_text.h"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "fmt/format.h"
#include "tools/analyze/summary/module_tree.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/text_table.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

bool Counts(const SummaryColumns& columns) {
  return (columns.allocated_bytes | columns.net_bytes | columns.bytes_at_peak) != 0;
}

// Marks the `most` largest nodes; 0: all. Parents are at least as large as their children, so the parents of a marked
// node are marked.
std::vector<bool> Shown(const std::vector<ModuleNode>& nodes, std::size_t most) {
  std::vector<std::size_t> order;
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    if (Counts(nodes[i].subtree)) order.push_back(i);
  }
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    const auto key = [&](std::size_t i) {
      return std::tuple(nodes[i].subtree.bytes_at_peak, nodes[i].subtree.allocated_bytes);
    };
    if (key(a) != key(b)) return key(a) > key(b);
    return nodes[a].depth < nodes[b].depth;
  });
  if (most != 0 && order.size() > most) order.resize(most);
  std::vector<bool> shown(nodes.size());
  for (const std::size_t i : order) shown[i] = true;
  return shown;
}

class TreeTable {
 public:
  TreeTable(const std::vector<ModuleNode>& nodes, std::vector<bool> shown) : nodes_(nodes), shown_(std::move(shown)) {}

  std::string Render(const Terminal& terminal) {
    AddBelow(nodes_[0]);
    const SummaryColumns& all = nodes_[0].subtree;
    table_.AddTotal(Cells("total", calls_, all));
    return table_.Render(terminal, 2);
  }

 private:
  std::vector<std::string> Cells(std::string name, std::uint64_t calls, const SummaryColumns& columns) const {
    return {std::move(name),
            FormatBytes(columns.bytes_at_peak),
            FormatShare(columns.bytes_at_peak, nodes_[0].subtree.bytes_at_peak),
            FormatBytes(columns.allocated_bytes),
            FormatBytes(columns.net_bytes),
            FormatCount(columns.allocations),
            calls == 0 ? "" : FormatCount(calls)};
  }

  std::string Name(const ModuleNode& node) const {
    std::string name(2 * std::size_t{node.depth - 1}, ' ');
    name += ShownName(node.name);
    if (!node.class_name.empty() && node.class_name != node.name) name += " " + ShownName(node.class_name);
    if (node.alike > 1) name += fmt::format(" ×{}", node.alike);
    return name;
  }

  void AddBelow(const ModuleNode& node) {
    SummaryColumns rest;
    std::uint64_t rest_modules = 0;
    const bool any = std::ranges::any_of(node.children, [this](std::size_t child) { return shown_[child]; });
    if (node.depth > 0 && any && Counts(node.own))
      table_.AddRow(Cells(std::string(2 * std::size_t{node.depth}, ' ') + "(itself)", 0, node.own));
    for (const std::size_t child : node.children) {
      if (shown_[child]) {
        AddNode(nodes_[child]);
      } else {
        rest += nodes_[child].subtree;
        rest_modules += nodes_[child].modules;
      }
    }
    for (const std::size_t child : node.children) calls_ += shown_[child] ? 0 : CallsBelow(nodes_[child]);
    if (any && Counts(rest)) {
      table_.AddRow(
          Cells(std::string(2 * std::size_t{node.depth}, ' ') +
                    fmt::format("other ({} {})", FormatCount(rest_modules), rest_modules == 1 ? "module" : "modules"),
                0, rest));
    }
  }

  void AddNode(const ModuleNode& node) {
    calls_ += node.calls;
    table_.AddRow(Cells(Name(node), node.calls, node.subtree));
    AddBelow(node);
  }

  std::uint64_t CallsBelow(const ModuleNode& node) const {
    std::uint64_t calls = node.calls;
    for (const std::size_t child : node.children) calls += CallsBelow(nodes_[child]);
    return calls;
  }

  const std::vector<ModuleNode>& nodes_;
  const std::vector<bool> shown_;
  std::uint64_t calls_ = 0;
  TextTable table_{{"module", "at peak", "share", "allocated", "kept", "allocs", "calls"}};
};

std::string PhaseTable(const Summary& summary, const SummaryColumns& all, const Terminal& terminal) {
  TextTable table({"phase", "at peak", "share", "allocated", "kept", "allocs"});
  const auto add = [&](const std::string& name, const SummaryColumns& columns, bool total) {
    std::vector<std::string> cells = {name,
                                      FormatBytes(columns.bytes_at_peak),
                                      FormatShare(columns.bytes_at_peak, all.bytes_at_peak),
                                      FormatBytes(columns.allocated_bytes),
                                      FormatBytes(columns.net_bytes),
                                      FormatCount(columns.allocations)};
    total ? table.AddTotal(std::move(cells)) : table.AddRow(std::move(cells));
  };
  for (std::size_t i = 0; i < kPhases; ++i) {
    if (Counts(summary.phases[i])) add(std::string(ToString(static_cast<Phase>(i))), summary.phases[i], false);
  }
  add("total", all, true);
  return table.Render(terminal, 2);
}

}  // namespace

std::string RenderModules(const Summary& summary, std::size_t top, const Terminal& terminal) {
  const std::vector<ModuleNode> all = BuildModuleTree(summary);
  const std::vector<ModuleNode> nodes = top == 0 ? all : FoldAlike(all);
  std::string text = Painted(terminal, Color::kBold, "By module, each line with the modules inside it") + "\n";
  text += TreeTable(nodes, Shown(nodes, 2 * top)).Render(terminal);
  if (summary.module_calls == 0 && nodes[0].modules == 0)
    text += "  " +
            Wrapped(
                "No module was recorded: the program called none, or was recorded with --modules off (a trace of "
                "torch.profiler: without with_stack=True).",
                terminal.width, 2) +
            "\n";
  text += "\n" + Painted(terminal, Color::kBold, "By phase") + "\n";
  return text + PhaseTable(summary, nodes[0].subtree, terminal);
}

}  // namespace memoir
