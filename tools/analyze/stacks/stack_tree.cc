#include "tools/analyze/stacks/stack_tree.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "tools/analyze/pass/window/windowed_visitor.h"
#include "tools/analyze/stacks/module_operator_nodes.h"
#include "tools/analyze/summary/figures/row_table.h"

namespace memoir {
namespace {

// Counts the bytes of each node in a RowTable. By default, library frames are not nodes, so there are few nodes and the
// table is small.
template <class Nodes>
class TreePass : public WindowedVisitor {
 public:
  TreePass(const Capture& capture, const StackTreeOptions& options, Nodes nodes)
      : WindowedVisitor(capture, options), nodes_(std::move(nodes)) {}
  StackTree tree;

 protected:
  void SeeWindowOpen(const Event& event) override { table_.OpenWindow(event.process, event.tick, false); }
  void SeeWindowClose(const Event& event) override { table_.CloseWindow(event.process); }
  void SeeAllocate(const AllocateEvent& event) override {
    if (!in_window() && selection().forget_before) return;
    const bool whole = selection().window.kind == SelectionWindow::Kind::kAll;
    // A block that was live when the recording began has a stack only if an imported snapshot contains its stack.
    const bool unknown = event.block->origin == BlockOrigin::kFound && !event.block->callstack.valid();
    const bool named = !unknown && (in_window() || (whole && event.before));
    const std::uint32_t node =
        named ? nodes_.NodeOf(*event.block, state().dictionary()) : nodes_.NodeOf(CallerNode::Kind::kBefore);
    table_.Add(*event.block, event.process, node, in_window() && !event.before, in_window(), event.tick);
  }
  void SeeDeallocate(const DeallocateEvent& event) override {
    table_.Remove(*event.block, in_window(), event.temporary, event.cause != DeallocateCause::kUnknown, event.tick);
  }
  void SeeEnd(const ReplayReport& report) override;

 private:
  void AddSums();
  void Sort(std::vector<std::uint32_t>& children) const;

  Nodes nodes_;
  RowTable table_;
};

template <class Nodes>
void TreePass<Nodes>::AddSums() {
  const Dictionary& dictionary = state().dictionary();
  const auto caching = [&](std::size_t i) { return state().memory(DeviceId{static_cast<std::uint32_t>(i)}).caching(); };
  bool any_caching = false;
  for (std::size_t i = 0; i < table_.devices().size(); ++i) any_caching |= table_.devices()[i].used && caching(i);
  for (std::size_t i = 0; i < table_.devices().size(); ++i) {
    const DeviceTable& device = table_.devices()[i];
    if (!device.used || (any_caching && !caching(i))) continue;
    tree.devices.push_back(ToString(dictionary.device(DeviceId{static_cast<std::uint32_t>(i)})));
    for (std::size_t node = 0; node < device.cells.size(); ++node) {
      const SummaryColumns columns = RowTable::Finish(device.cells[node], device, 1);
      tree.nodes[node].own += {columns.bytes_at_peak,   columns.blocks_at_peak, columns.allocations,
                               columns.allocated_bytes, columns.net_bytes,      columns.temporary_bytes};
    }
  }
}

template <class Nodes>
void TreePass<Nodes>::Sort(std::vector<std::uint32_t>& children) const {
  std::ranges::sort(children, [this](std::uint32_t left, std::uint32_t right) {
    const StackSums &a = tree.nodes[left].subtree, &b = tree.nodes[right].subtree;
    return std::tuple(b.bytes_at_peak, b.allocated_bytes, left) < std::tuple(a.bytes_at_peak, a.allocated_bytes, right);
  });
}

template <class Nodes>
void TreePass<Nodes>::SeeEnd(const ReplayReport& report) {
  for (const CallerNode& node : nodes_.nodes()) tree.nodes.push_back({node, {}, {}, {}});
  tree.frames = nodes_.frames();
  AddSums();
  for (std::size_t i = tree.nodes.size(); i-- > 0;) {  // a child comes after its parent
    StackNode& node = tree.nodes[i];
    node.subtree += node.own;
    if (i > 0) tree.nodes[node.parent].subtree += node.subtree;
  }
  for (std::uint32_t i = 1; i < tree.nodes.size(); ++i) {
    // Leaves out nodes without live or allocated bytes.
    if (tree.nodes[i].subtree != StackSums()) tree.nodes[tree.nodes[i].parent].children.push_back(i);
  }
  for (StackNode& node : tree.nodes) Sort(node.children);
  for (const ReplayReport::Process& process : report.processes) tree.is_partly_evicted |= !process.evicted.empty();
  tree.missing = nodes_.Missing(state().dictionary());
}

template <class Nodes>
Task<absl::StatusOr<StackTree>> Analyze(JointReplays& replays, const StackTreeOptions& options, Nodes nodes) {
  TreePass<Nodes> pass(replays.capture(), options, std::move(nodes));
  // Blocks of backward have the stacks of their forward operators only in a replay with modules.
  absl::StatusOr<ReplayReport> report = co_await replays.Next(pass, {.modules = true});
  if (!report.ok()) co_return report.status();
  if (!pass.selection_status().ok()) co_return pass.selection_status();
  StackTree tree = std::move(pass.tree);
  tree.report = *std::move(report);
  co_return tree;
}

}  // namespace

StackSums& StackSums::operator+=(const StackSums& other) {
  bytes_at_peak += other.bytes_at_peak;
  blocks_at_peak += other.blocks_at_peak;
  allocations += other.allocations;
  allocated_bytes += other.allocated_bytes;
  net_bytes += other.net_bytes;
  temporary_bytes += other.temporary_bytes;
  return *this;
}

Task<absl::StatusOr<StackTree>> AnalyzeStackTree(JointReplays& replays, StackTreeOptions options) {
  if (options.kind == StackTreeOptions::Kind::kPlaces)
    co_return co_await Analyze(replays, options, ModuleOperatorNodes());
  CallerNodes callers({.own = options.own, .all_frames = options.all_frames});
  co_return co_await Analyze(replays, options, std::move(callers));
}

absl::StatusOr<StackTree> AnalyzeStackTree(const Capture& capture, const StackTreeOptions& options) {
  JointReplays replays(capture, options);
  return replays.Finish(AnalyzeStackTree(replays, options));
}

}  // namespace memoir
