#include "tools/analyze/tree/range_tree.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "tools/analyze/pass/windowed_visitor.h"

namespace memoir {
namespace {

constexpr std::size_t kMaxNodes = 1u << 20;  // a program that makes up names must not fill memory
constexpr std::uint32_t kRoot = 0;

struct Node {
  NameId name;
  RangeSource source = RangeSource::kFunction;
  std::uint32_t parent = kRoot;
  std::uint64_t calls = 0;
  std::uint64_t allocations = 0;
  std::uint64_t bytes = 0;
  std::uint64_t ticks = 0;
  std::uint64_t live = 0;
  std::uint64_t at_end = 0;  // live as of the latest end of a window
  std::uint64_t ends = 0;
};

class TreePass : public WindowedVisitor {
 public:
  TreePass(const Capture& capture, const RangeTreeOptions& options)
      : WindowedVisitor(capture, options), options_(options) {
    nodes_.emplace_back();
  }
  RangeTree tree;

 protected:
  void WindowCloses(const Event&) override { ++ends_; }
  void SeeRangeBegin(const RangeBeginEvent& event) override;
  void SeeRangeEnd(const RangeEndEvent& event) override;
  void SeeAllocate(const AllocateEvent& event) override;
  void SeeDeallocate(const DeallocateEvent& event) override;
  void SeeProcessEnd(const ProcessEvent& event) override;
  void SeeEnd(const ReplayReport&) override;

 private:
  static constexpr std::uint32_t kNotFollowed = 0xffffffffu;
  std::vector<std::uint32_t>& PathOf(ThreadId thread) {
    if (thread.value >= paths_.size()) paths_.resize(thread.value + 1);
    return paths_[thread.value];
  }
  std::uint32_t NodeAround(const RangeBase& base) {
    const std::size_t depth = base.depth;
    return depth == 0 || PathOf(base.thread).size() < depth ? kRoot : PathOf(base.thread)[depth - 1];
  }
  std::uint32_t Child(std::uint32_t parent, const OpenRange& range);
  std::uint32_t& NodeOf(const Block& block);
  void Note(Node& node) const {
    if (node.ends == ends_) return;
    node.ends = ends_;
    node.at_end = node.live;
  }
  // `levels` of ranges are shown inside it.
  void Show(std::uint32_t node, std::uint32_t shown_parent, std::uint32_t depth, std::uint32_t levels);
  void ShowChildren(std::uint32_t node, std::uint32_t shown_at, std::uint32_t depth, std::uint32_t levels);
  // One row for all of them and what is inside.
  void ShowSum(RangeNode::Kind kind, const std::vector<std::uint32_t>& nodes, std::uint32_t shown_parent,
               std::uint32_t depth);

  const RangeTreeOptions& options_;
  std::vector<Node> nodes_;
  absl::flat_hash_map<std::pair<std::uint32_t, std::pair<NameId, std::uint8_t>>, std::uint32_t> children_;
  std::vector<std::vector<std::uint32_t>> paths_;  // by ThreadId: node of each open range
  std::vector<std::uint32_t> node_of_slot_;
  std::uint32_t node_of_late_block_ = kNotFollowed;
  std::uint64_t ends_ = 0;
  double ns_per_tick_ = 1;
  // Over a node and all under it.
  std::vector<std::uint64_t> all_bytes_, all_net_, all_allocations_, all_ranges_;
  std::vector<std::vector<std::uint32_t>> children_of_;
};

std::uint32_t TreePass::Child(std::uint32_t parent, const OpenRange& range) {
  const auto next = static_cast<std::uint32_t>(nodes_.size());
  const auto key = std::pair(parent, std::pair(range.name, static_cast<std::uint8_t>(range.source)));
  if (const auto known = children_.find(key); known != children_.end()) return known->second;
  if (nodes_.size() >= kMaxNodes) return parent;
  children_[key] = next;
  nodes_.push_back({range.name, range.source, parent});
  return next;
}

void TreePass::SeeRangeBegin(const RangeBeginEvent& event) {
  std::vector<std::uint32_t>& path = PathOf(event.thread);
  path.resize(event.range->depth, kRoot);
  const std::uint32_t parent = path.empty() ? NodeAround(event.range->base) : path.back();
  // Deeper ranges count for the last one.
  const bool too_deep = event.range->depth >= RangeTreeOptions::kMostDepth;
  const std::uint32_t node = too_deep ? parent : Child(parent, *event.range);
  path.push_back(node);
  if (in_window() && !event.before && node != parent) ++nodes_[node].calls;
}

void TreePass::SeeRangeEnd(const RangeEndEvent& event) {
  std::vector<std::uint32_t>& path = PathOf(event.thread);
  if (path.size() <= event.range->depth) return;
  const std::uint32_t node = path[event.range->depth];
  path.resize(event.range->depth);
  const bool own = node != (path.empty() ? NodeAround(event.range->base) : path.back());
  if (in_window() && own && event.tick > event.range->begin) nodes_[node].ticks += event.tick - event.range->begin;
}

std::uint32_t& TreePass::NodeOf(const Block& block) {
  if (block.slot == Block::kNoSlot) return node_of_late_block_;
  if (block.slot >= node_of_slot_.size()) node_of_slot_.resize(block.slot + 1, kNotFollowed);
  return node_of_slot_[block.slot];
}

void TreePass::SeeAllocate(const AllocateEvent& event) {
  std::uint32_t& node_of_block = NodeOf(*event.block);
  node_of_block = kNotFollowed;
  if (!in_window() || event.before) return;
  const std::vector<std::uint32_t>* path = event.stack == nullptr ? nullptr : &PathOf(event.thread);
  node_of_block = path == nullptr || path->empty() ? NodeAround(event.base) : path->back();
  Node& node = nodes_[node_of_block];
  Note(node);
  node.allocations += 1;
  node.bytes += event.block->bytes;
  node.live += event.block->bytes;
}

void TreePass::SeeDeallocate(const DeallocateEvent& event) {
  const std::uint32_t at = std::exchange(NodeOf(*event.block), kNotFollowed);
  if (at == kNotFollowed) return;
  Note(nodes_[at]);
  nodes_[at].live -= event.block->bytes;
}

void TreePass::SeeProcessEnd(const ProcessEvent& event) {
  paths_.clear();
  node_of_slot_.clear();
  const ProcessSummary& process = capture().processes()[event.process.value];
  if (process.last_tick <= process.first_tick) return;
  const std::uint64_t begin = state().Nanoseconds(event.process, process.first_tick);
  const std::uint64_t end = state().Nanoseconds(event.process, process.last_tick);
  ns_per_tick_ = static_cast<double>(end - begin) / static_cast<double>(process.last_tick - process.first_tick);
}

void TreePass::SeeEnd(const ReplayReport&) {
  all_bytes_.resize(nodes_.size());
  all_net_.resize(nodes_.size());
  all_allocations_.resize(nodes_.size());
  all_ranges_.resize(nodes_.size());
  children_of_.resize(nodes_.size());
  // A parent is older than its children.
  for (std::uint32_t i = static_cast<std::uint32_t>(nodes_.size()); i-- > 0;) {
    const Node& node = nodes_[i];
    all_bytes_[i] += node.bytes;
    all_net_[i] += node.ends == ends_ ? node.at_end : node.live;
    all_allocations_[i] += node.allocations;
    if (i == kRoot) break;
    all_allocations_[node.parent] += all_allocations_[i];
    all_bytes_[node.parent] += all_bytes_[i];
    all_net_[node.parent] += all_net_[i];
    if (node.calls == 0 && all_bytes_[i] == 0) continue;
    children_of_[node.parent].push_back(i);
    all_ranges_[node.parent] += all_ranges_[i] + 1;
  }
  Show(kRoot, 0, 0, options_.depth == 0 ? RangeTreeOptions::kMostDepth : options_.depth);
}

void TreePass::Show(std::uint32_t at, std::uint32_t shown_parent, std::uint32_t depth, std::uint32_t levels) {
  const Node& node = nodes_[at];
  const auto shown_at = static_cast<std::uint32_t>(tree.nodes.size());
  RangeNode shown;
  shown.name = state().dictionary().text(node.name);
  if (at == kRoot) shown.kind = RangeNode::Kind::kRoot;
  if (at != kRoot && shown.name.empty()) shown.name = "(unknown)";
  shown.source = node.source;
  shown.depth = depth;
  shown.parent = shown_parent;
  shown.calls = node.calls;
  shown.self_allocations = node.allocations;
  shown.self_bytes = node.bytes;
  shown.self_net_bytes = node.ends == ends_ ? node.at_end : node.live;
  shown.allocated_bytes = all_bytes_[at];
  shown.net_bytes = all_net_[at];
  shown.total_ns = static_cast<std::uint64_t>(static_cast<double>(node.ticks) * ns_per_tick_);
  tree.nodes.push_back(std::move(shown));
  if (at != kRoot) tree.nodes[shown_parent].children.push_back(shown_at);
  ShowChildren(at, shown_at, depth + 1, levels);
}

void TreePass::ShowChildren(std::uint32_t at, std::uint32_t shown_at, std::uint32_t depth, std::uint32_t levels) {
  std::vector<std::uint32_t> children = children_of_[at];
  if (levels == 0) return ShowSum(RangeNode::Kind::kDeeper, children, shown_at, depth);
  std::sort(children.begin(), children.end(), [this](std::uint32_t a, std::uint32_t b) {
    if (all_bytes_[a] != all_bytes_[b]) return all_bytes_[a] > all_bytes_[b];
    return a < b;
  });
  const std::size_t width = std::min(children.size(), std::max<std::size_t>(options_.width, 1));
  for (std::size_t i = 0; i < width; ++i) {
    const bool around_window = nodes_[children[i]].calls == 0;
    Show(children[i], shown_at, depth, around_window ? levels : levels - 1);
  }
  ShowSum(RangeNode::Kind::kOther, {children.begin() + static_cast<std::ptrdiff_t>(width), children.end()}, shown_at,
          depth);
}

void TreePass::ShowSum(RangeNode::Kind kind, const std::vector<std::uint32_t>& nodes, std::uint32_t shown_parent,
                       std::uint32_t depth) {
  if (nodes.empty()) return;
  RangeNode shown;
  shown.kind = kind;
  shown.others = kind == RangeNode::Kind::kOther ? nodes.size() : 0;
  shown.depth = depth;
  shown.parent = shown_parent;
  for (const std::uint32_t other : nodes) {
    if (kind == RangeNode::Kind::kDeeper) shown.others += all_ranges_[other] + 1;
    shown.calls += nodes_[other].calls;
    shown.self_allocations += all_allocations_[other];
    shown.allocated_bytes += all_bytes_[other];
    shown.net_bytes += all_net_[other];
    shown.total_ns += static_cast<std::uint64_t>(static_cast<double>(nodes_[other].ticks) * ns_per_tick_);
  }
  // Nothing of them is shown below, so all of it is their own.
  shown.self_bytes = shown.allocated_bytes;
  shown.self_net_bytes = shown.net_bytes;
  tree.nodes[shown_parent].children.push_back(static_cast<std::uint32_t>(tree.nodes.size()));
  tree.nodes.push_back(std::move(shown));
}

}  // namespace

absl::StatusOr<RangeTree> AnalyzeRangeTree(const Capture& capture, const RangeTreeOptions& options) {
  TreePass pass(capture, options);
  absl::StatusOr<ReplayReport> report = capture.Replay(pass, ReplayOptionsFor(options, false, false));
  if (!report.ok()) return report.status();
  if (!pass.found().ok()) return pass.found();
  RangeTree tree = std::move(pass.tree);
  tree.report = *std::move(report);
  return tree;
}

}  // namespace memoir
