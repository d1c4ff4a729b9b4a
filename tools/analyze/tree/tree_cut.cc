#include "tools/analyze/tree/tree_cut.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"

namespace memoir {
namespace {

constexpr std::uint32_t kAllLevels = MergedTree::kMostDepth + 1;

// Sums of a node alone, or of a node and all nodes below it.
struct Sums {
  std::uint64_t allocations = 0, bytes = 0, net = 0, at_peak = 0, freed = 0;
  Sums& operator+=(const Sums& other) {
    allocations += other.allocations;
    bytes += other.bytes;
    net += other.net;
    at_peak += other.at_peak;
    freed += other.freed;
    return *this;
  }
};

class Cutter {
 public:
  Cutter(const MergedTree& merged, const ReplayState& state, const RangeTreeOptions& options)
      : merged_(merged), dictionary_(state.dictionary()), options_(options), count_(merged.nodes().size()) {
    SumUp();
    FindMatches();
  }
  RangeTree Cut() {
    tree_.all_nodes = all_nodes_[kTreeRoot];
    tree_.too_many = merged_.too_many();
    tree_.too_deep = merged_.too_deep();
    Show(kTreeRoot, 0, 0, options_.depth == 0 ? kAllLevels : options_.depth, options_.grep.empty());
    return std::move(tree_);
  }

 private:
  void SumUp();
  void AddLeaf(const MergedLeaf& leaf);
  void FindMatches();
  bool Matches(const MergedNode& node) const;
  std::string NameOf(const MergedNode& node) const;
  std::string_view ForwardName(const MergedNode& node) const;
  TreeMemory MemoryOf(const MergedLeaf& leaf) const;
  bool IsLarge(std::uint32_t node) const {
    const Sums& sums = all_[node];
    return notable_[node] || endless_[node] || std::max({sums.bytes, sums.at_peak, sums.freed}) >= least_;
  }
  // Shows a node, and `levels` levels of nodes inside. `inside`: true if a node around it matches the pattern, or if
  // there is no pattern.
  void Show(std::uint32_t node, std::uint32_t shown_parent, std::uint32_t depth, std::uint32_t levels, bool inside);
  void ShowChildren(std::uint32_t node, std::uint32_t shown_at, std::uint32_t depth, std::uint32_t levels, bool inside);
  RangeNode Shown(std::uint32_t at) const;
  // Shows one row for all of these nodes and the nodes inside.
  void ShowSum(RangeNode::Kind kind, const std::vector<std::uint32_t>& nodes, std::uint32_t shown_parent,
               std::uint32_t depth);

  const MergedTree& merged_;
  const Dictionary& dictionary_;
  const RangeTreeOptions& options_;
  const std::size_t count_;
  RangeTree tree_;
  std::vector<Sums> own_, all_;
  std::vector<std::uint64_t> all_nodes_;  // number of nodes below each node
  std::vector<std::vector<std::uint32_t>> children_, leaves_;
  std::vector<bool> matches_, holds_match_;
  // By node. True if the node, or a node below it, is a compilation. Also true if one of these nodes has a leaf for
  // which IsOrdinary() is false.
  std::vector<bool> notable_;
  std::vector<bool> endless_;  // the node or a node below has a call without an end
  std::uint64_t least_ = 0;    // RangeTreeOptions::share in bytes
};

bool IsOrdinary(MemoryAction action) {
  return action == MemoryAction::kAllocate || action == MemoryAction::kFree || IsDeviceCall(action);
}

void Cutter::AddLeaf(const MergedLeaf& leaf) {
  Sums& own = own_[leaf.place.node];
  const std::uint64_t at_peak = merged_.AtPeak(leaf);
  switch (leaf.place.action) {
    case MemoryAction::kAllocate:
      own.allocations += leaf.count;
      own.bytes += leaf.bytes;
      own.net += merged_.AtEnd(leaf);
      own.at_peak += at_peak;
      return;
    case MemoryAction::kBefore:
    case MemoryAction::kElsewhere:
      own.at_peak += at_peak;
      return;
    case MemoryAction::kFree:
      own.freed += leaf.bytes;
      return;
    default:
      return;
  }
}

void Cutter::SumUp() {
  own_.resize(count_);
  all_.resize(count_);
  all_nodes_.resize(count_);
  children_.resize(count_);
  leaves_.resize(count_);
  notable_.resize(count_);
  endless_.resize(count_);
  for (std::uint32_t i = 0; i < merged_.leaves().size(); ++i) {
    AddLeaf(merged_.leaves()[i]);
    const LeafPlace& place = merged_.leaves()[i].place;
    leaves_[place.node].push_back(i);
    if (!IsOrdinary(place.action)) notable_[place.node] = true;
  }
  // A parent has a smaller number than its children.
  for (auto i = static_cast<std::uint32_t>(count_); i-- > 0;) {
    all_[i] += own_[i];
    if (i == kTreeRoot) break;
    const MergedNode& node = merged_.nodes()[i];
    all_[node.place.parent] += all_[i];
    const bool empty = node.calls == 0 && leaves_[i].empty() && children_[i].empty();
    if (empty) continue;
    if (!node.place.is_module && dictionary_.compilation(node.place.name) != nullptr) notable_[i] = true;
    children_[node.place.parent].push_back(i);
    endless_[i] = endless_[i] || node.unfinished > 0;
    if (notable_[i]) notable_[node.place.parent] = true;
    if (endless_[i]) endless_[node.place.parent] = true;
    all_nodes_[node.place.parent] += all_nodes_[i] + 1;
  }
  const Sums& all = all_[kTreeRoot];
  least_ = static_cast<std::uint64_t>(static_cast<double>(std::max(all.bytes, all.at_peak)) * options_.share);
}

std::string Cutter::NameOf(const MergedNode& node) const {
  if (node.place.code.valid()) return dictionary_.code(node.place.code).function;
  if (node.place.is_module) return dictionary_.module(node.place.module).display_path();
  const std::string_view name = dictionary_.text(node.place.name);
  return name.empty() ? "(unknown)" : std::string(name);
}

std::string_view Cutter::ForwardName(const MergedNode& node) const {
  if (node.place.forward == kNoTreeNode || node.place.forward == kTreeRoot) return "";
  return dictionary_.text(merged_.nodes()[node.place.forward].place.name);
}

bool Cutter::Matches(const MergedNode& node) const {
  const std::string wanted = absl::AsciiStrToLower(options_.grep);
  const auto has = [&](std::string_view text) {
    return absl::AsciiStrToLower({text.data(), text.size()}).find(wanted) != std::string::npos;
  };
  if (has(NameOf(node)) || has(ForwardName(node))) return true;
  if (node.place.code.valid()) return has(dictionary_.code(node.place.code).file);
  if (!node.place.module.valid()) return false;
  const Module& module = dictionary_.module(node.place.module);
  return has(module.path) || has(module.root) || has(module.class_name);
}

void Cutter::FindMatches() {
  matches_.resize(count_);
  holds_match_.resize(count_, options_.grep.empty());
  if (options_.grep.empty()) return;
  for (auto i = static_cast<std::uint32_t>(count_); i-- > 1;) {
    matches_[i] = Matches(merged_.nodes()[i]);
    holds_match_[i] = holds_match_[i] || matches_[i];
    if (holds_match_[i]) holds_match_[merged_.nodes()[i].place.parent] = true;
  }
}

TreeMemory Cutter::MemoryOf(const MergedLeaf& leaf) const {
  TreeMemory memory;
  memory.action = leaf.place.action;
  if (leaf.place.device.valid()) memory.device = ToString(dictionary_.device(leaf.place.device));
  memory.stream = leaf.place.stream;
  memory.call = leaf.place.call;
  (leaf.place.action == MemoryAction::kLaunch ? memory.kernel : memory.library) = dictionary_.text(leaf.place.library);
  memory.device_call = leaf.place.device_call;
  memory.copy_kind = leaf.place.copy_kind;
  memory.ns = static_cast<std::uint64_t>(leaf.ns);
  memory.count = leaf.count;
  memory.bytes = leaf.bytes;
  const bool lives = leaf.place.action == MemoryAction::kAllocate || leaf.place.action == MemoryAction::kBefore ||
                     leaf.place.action == MemoryAction::kElsewhere;
  if (!lives) return memory;
  memory.bytes_at_peak = merged_.AtPeak(leaf);
  memory.net_bytes = merged_.AtEnd(leaf);
  return memory;
}

RangeNode Cutter::Shown(std::uint32_t at) const {
  const MergedNode& node = merged_.nodes()[at];
  RangeNode shown;
  shown.kind = at == kTreeRoot           ? RangeNode::Kind::kRoot
               : node.place.is_module    ? RangeNode::Kind::kModule
               : node.place.code.valid() ? RangeNode::Kind::kCall
                                         : RangeNode::Kind::kNamed;
  if (at != kTreeRoot) shown.name = NameOf(node);
  if (node.place.code.valid()) shown.file = dictionary_.code(node.place.code).file;
  shown.source = node.place.source;
  if (node.place.module.valid()) shown.module = dictionary_.module(node.place.module);
  shown.forward = ForwardName(node);
  shown.calls = node.calls;
  shown.unfinished = node.unfinished;
  shown.self_allocations = own_[at].allocations;
  shown.self_bytes = own_[at].bytes;
  shown.self_net_bytes = own_[at].net;
  shown.allocated_bytes = all_[at].bytes;
  shown.net_bytes = all_[at].net;
  shown.bytes_at_peak = all_[at].at_peak;
  shown.freed_bytes = all_[at].freed;
  shown.total_ns = static_cast<std::uint64_t>(node.ns);
  for (const std::uint32_t leaf : leaves_[at]) {
    const MergedLeaf& memory = merged_.leaves()[leaf];
    const bool always = !IsOrdinary(memory.place.action) || IsDeviceCall(memory.place.action);
    if (always || memory.bytes >= least_) shown.memory.push_back(MemoryOf(memory));
  }
  return shown;
}

void Cutter::Show(std::uint32_t at, std::uint32_t shown_parent, std::uint32_t depth, std::uint32_t levels,
                  bool inside) {
  const auto shown_at = static_cast<std::uint32_t>(tree_.nodes.size());
  RangeNode shown = Shown(at);
  shown.depth = depth;
  shown.parent = shown_parent;
  tree_.nodes.push_back(std::move(shown));
  if (at != kTreeRoot) {
    tree_.nodes[shown_parent].children.push_back(shown_at);
    ++tree_.shown_nodes;
  }
  ShowChildren(at, shown_at, depth + 1, levels, inside || matches_[at]);
}

void Cutter::ShowChildren(std::uint32_t at, std::uint32_t shown_at, std::uint32_t depth, std::uint32_t levels,
                          bool inside) {
  std::vector<std::uint32_t> children = children_[at];
  if (levels == 0) return ShowSum(RangeNode::Kind::kDeeper, children, shown_at, depth);
  const auto first = [&](std::uint32_t child) { return (inside || holds_match_[child]) && IsLarge(child) ? 0 : 1; };
  std::ranges::sort(children, [&](std::uint32_t a, std::uint32_t b) {
    if (first(a) != first(b)) return first(a) < first(b);
    if (endless_[a] != endless_[b]) return static_cast<bool>(endless_[a]);  // the program stopped in this node
    return all_[a].bytes == all_[b].bytes ? a < b : all_[a].bytes > all_[b].bytes;
  });
  const auto fit =
      static_cast<std::size_t>(std::ranges::count_if(children, [&](auto child) { return first(child) == 0; }));
  const std::size_t width = std::min(fit, std::max<std::size_t>(options_.width, 1));
  for (std::size_t i = 0; i < width; ++i) {
    // Nodes around the selection or around a match do not count as a level.
    const bool around = merged_.nodes()[children[i]].calls == 0 || (!inside && !matches_[children[i]]);
    Show(children[i], shown_at, depth, around ? levels : levels - 1, inside);
  }
  ShowSum(RangeNode::Kind::kOther, {children.begin() + static_cast<std::ptrdiff_t>(width), children.end()}, shown_at,
          depth);
}

void Cutter::ShowSum(RangeNode::Kind kind, const std::vector<std::uint32_t>& nodes, std::uint32_t shown_parent,
                     std::uint32_t depth) {
  if (nodes.empty()) return;
  RangeNode shown;
  shown.kind = kind;
  shown.others = kind == RangeNode::Kind::kOther ? nodes.size() : 0;
  shown.depth = depth;
  shown.parent = shown_parent;
  for (const std::uint32_t other : nodes) {
    if (kind == RangeNode::Kind::kDeeper) shown.others += all_nodes_[other] + 1;
    shown.calls += merged_.nodes()[other].calls;
    shown.unfinished += merged_.nodes()[other].unfinished;
    shown.self_allocations += all_[other].allocations;
    shown.allocated_bytes += all_[other].bytes;
    shown.net_bytes += all_[other].net;
    shown.bytes_at_peak += all_[other].at_peak;
    shown.freed_bytes += all_[other].freed;
    shown.total_ns += static_cast<std::uint64_t>(merged_.nodes()[other].ns);
  }
  // The nodes inside are not shown, so their bytes count as this row's own bytes.
  shown.self_bytes = shown.allocated_bytes;
  shown.self_net_bytes = shown.net_bytes;
  tree_.nodes[shown_parent].children.push_back(static_cast<std::uint32_t>(tree_.nodes.size()));
  tree_.nodes.push_back(std::move(shown));
}

}  // namespace

RangeTree CutTree(const MergedTree& merged, const ReplayState& state, const RangeTreeOptions& options) {
  return Cutter(merged, state, options).Cut();
}

}  // namespace memoir
