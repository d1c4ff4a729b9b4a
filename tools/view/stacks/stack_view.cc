#include "tools/view/stacks/stack_view.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "tools/analyze/grouping/grouping.h"
#include "tools/analyze/pass/window/groupings.h"
#include "tools/view/capture/capture_text.h"
#include "tools/view/capture/line_text.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/text_table.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

// Limit on levels, because rows are made recursively and are indented by their level.
constexpr std::uint32_t kMostDepth = 200;

std::string_view NameOf(StackNode::Kind kind) {
  switch (kind) {
    case StackNode::Kind::kNone:
      return GroupingFactsOf(GroupBy::kLine).none;
    case StackNode::Kind::kCompiled:
      return kCompiledLabel;
    case StackNode::Kind::kBefore:
      return kBeforeLabel;
    default:
      return "";
  }
}

class TreeTable {
 public:
  TreeTable(const StackTree& tree, const StackTextOptions& options)
      : tree_(tree),
        depth_(options.depth == 0 ? kMostDepth : std::min(options.depth, kMostDepth)),
        files_(FilesOf(tree)),
        shown_(Shown(options.top)) {}

  std::string Render(const Terminal& terminal) {
    table_.CutNamesAtEnd();
    AddBelow(0, 0);
    table_.AddTotal(Cells("total", tree_.nodes[0].subtree));
    return table_.Render(terminal, 2);
  }
  bool shares_rows() const { return shares_rows_; }
  bool cuts_depth() const { return cuts_depth_; }
  bool leaves_out_files() const { return leaves_out_files_; }

 private:
  static ShownFiles FilesOf(const StackTree& tree) {
    std::vector<std::string_view> files;
    for (const SourceLine& frame : tree.frames) files.push_back(frame.file);
    return ShownFiles(files);
  }

  // Marks the largest rows, about twice `top`; 0: all. Callers are at least as large as the frames that they call, so
  // the callers of a marked row are marked.
  std::vector<bool> Shown(std::size_t top) const {
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 1; i < tree_.nodes.size(); ++i) {
      if (!GoesOn(i)) order.push_back(i);
    }
    const auto key = [this](std::uint32_t i) {
      const StackSums& sums = tree_.nodes[i].subtree;
      return std::tuple(sums.bytes_at_peak, sums.allocated_bytes);
    };
    std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) { return key(a) > key(b); });
    if (top != 0 && order.size() > 2 * top) order.resize(2 * top);
    std::vector<bool> shown(tree_.nodes.size());
    for (const std::uint32_t i : order) shown[i] = true;
    return shown;
  }

  // Returns true if the frame shares the row of the only frame that it called.
  bool GoesOn(std::uint32_t i) const {
    const StackNode& node = tree_.nodes[i];
    return node.children.size() == 1 && node.own == StackSums();
  }

  std::vector<std::string> Cells(std::string name, const StackSums& sums) const {
    return {std::move(name),
            FormatBytes(sums.bytes_at_peak),
            FormatShare(sums.bytes_at_peak, tree_.nodes[0].subtree.bytes_at_peak),
            FormatBytes(sums.allocated_bytes),
            FormatBytes(sums.net_bytes),
            FormatCount(sums.allocations)};
  }

  // Returns ":51 Net.forward" if `around`, the row that contains this row, has the same file.
  std::string Name(const StackNode& node, const StackNode& around) {
    if (node.kind != StackNode::Kind::kFrame) return std::string(NameOf(node.kind));
    const SourceLine& frame = tree_.frames[node.frame];
    const std::string text = files_.LineText(frame);
    const bool same = around.kind == StackNode::Kind::kFrame && tree_.frames[around.frame].file == frame.file;
    if (!same || frame.line == 0 || frame.file.empty()) return Escaped(text);
    leaves_out_files_ = true;
    return Escaped(text.substr(files_.NameOf(frame.file).size()));
  }

  std::uint64_t NodesBelow(std::uint32_t i) const {
    std::uint64_t nodes = 0;
    std::vector<std::uint32_t> open = {i};
    while (!open.empty()) {
      const StackNode& node = tree_.nodes[open.back()];
      open.pop_back();
      ++nodes;
      open.insert(open.end(), node.children.begin(), node.children.end());
    }
    return nodes;
  }

  void AddBelow(std::uint32_t parent, std::uint32_t level) {
    const StackNode& node = tree_.nodes[parent];
    const std::string margin(std::size_t{2} * level, ' ');
    StackSums rest;
    std::uint64_t rest_frames = 0;
    // The frame of each row, and true if the row also stands for frames between `parent` and this frame.
    std::vector<std::pair<std::uint32_t, bool>> rows;
    for (const std::uint32_t child : node.children) {
      std::uint32_t end = child;
      while (GoesOn(end)) end = tree_.nodes[end].children.front();
      if (shown_[end] && level < depth_) {
        rows.emplace_back(end, end != child);
        continue;
      }
      cuts_depth_ = cuts_depth_ || level >= depth_;
      rest += tree_.nodes[child].subtree;
      rest_frames += NodesBelow(child);
    }
    if (parent != 0 && !rows.empty() && node.own != StackSums()) table_.AddRow(Cells(margin + "(itself)", node.own));
    for (const auto& [end, shared] : rows) {
      shares_rows_ = shares_rows_ || shared;
      table_.AddRow(Cells(margin + (shared ? "… > " : "") + Name(tree_.nodes[end], node), tree_.nodes[end].subtree));
      AddBelow(end, level + 1);
    }
    if (rest_frames > 0 && (!rows.empty() || parent == 0))
      table_.AddRow(Cells(fmt::format("{}other ({})", margin, FormatCounted(rest_frames, "frame", "frames")), rest));
  }

  const StackTree& tree_;
  const std::uint32_t depth_;
  const ShownFiles files_;
  const std::vector<bool> shown_;
  bool shares_rows_ = false, cuts_depth_ = false, leaves_out_files_ = false;
  TextTable table_{{"called line", "at peak", "share", "allocated", "kept", "allocs"}};
};

std::string Note(const StackTree& tree, const TreeTable& table, const StackTextOptions& options) {
  std::string note = "Each row with all that it called";
  if (options.top != 0) note += "; frames of libraries count as the line that called them (--top 0: all frames)";
  if (table.shares_rows()) note += "; …: callers that all rows share, not shown";
  if (table.leaves_out_files()) note += "; :N: line N of the caller's file";
  if (table.cuts_depth()) note += "; deeper: --depth N";
  note += '.';
  if (tree.is_partly_evicted) note += " What was allocated in parts that --max-size removed is not in it.";
  return note;
}

Json SumsJson(const StackSums& sums) {
  return {{"bytes_at_peak", sums.bytes_at_peak},
          {"blocks_at_peak", sums.blocks_at_peak},
          {"allocations", sums.allocations},
          {"allocated_bytes", sums.allocated_bytes},
          {"net_bytes", sums.net_bytes}};
}

const char* KindName(StackNode::Kind kind) {
  switch (kind) {
    case StackNode::Kind::kTop:
      return "top";
    case StackNode::Kind::kFrame:
      return "frame";
    case StackNode::Kind::kNone:
      return "none";
    case StackNode::Kind::kCompiled:
      return "compiled";
    case StackNode::Kind::kBefore:
      return "before";
  }
  return "frame";
}

}  // namespace

std::string RenderStackTree(const Capture& capture, const StackTree& tree, const StackTextOptions& options,
                            const Terminal& terminal) {
  std::string text = RenderProgram(capture, terminal);
  std::string devices;
  for (const std::string& device : tree.devices) devices += (devices.empty() ? " on " : ", ") + Escaped(device);
  if (tree.devices.size() > 1) devices = fmt::format(" on {} devices, each at its own peak", tree.devices.size());
  text += "\n" + Painted(terminal, Color::kBold, "Live at the peak, and who allocates, by stack" + devices) + "\n";
  if (tree.nodes[0].subtree == StackSums()) {
    text += "  No allocation was recorded.\n";
  } else {
    TreeTable table(tree, options);
    text += table.Render(terminal);
    text += "  " + Wrapped(Note(tree, table, options), terminal.width, 2) + "\n";
  }
  if (!tree.missing.empty()) text += "  " + Wrapped(tree.missing, terminal.width, 2) + "\n";
  return text + "\n" + RenderLosses(capture, tree.report, terminal);
}

Json StackTreeJson(const Capture& capture, const StackTree& tree) {
  Json json = CaptureJson(capture, tree.report, "stacks");
  json["devices"] = tree.devices;
  json["missing"] = tree.missing;
  json["folded"] = tree.is_partly_evicted;
  json["nodes"] = Json::array();
  for (std::uint32_t i = 0; i < tree.nodes.size(); ++i) {
    const StackNode& node = tree.nodes[i];
    if (i > 0 && node.subtree == StackSums()) continue;
    Json shown = {{"id", i}, {"parent", i == 0 ? Json(nullptr) : Json(node.parent)}, {"kind", KindName(node.kind)}};
    AddLine(shown, node.kind == StackNode::Kind::kFrame ? tree.frames[node.frame] : SourceLine());
    shown["own"] = SumsJson(node.own);
    shown["subtree"] = SumsJson(node.subtree);
    json["nodes"].push_back(std::move(shown));
  }
  return json;
}

}  // namespace memoir
