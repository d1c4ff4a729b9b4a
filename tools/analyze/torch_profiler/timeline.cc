#include "tools/analyze/torch_profiler/timeline.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_set.h"

namespace memoir {
namespace {

// Adds events of memory without a known tensor.
void AddNamelessEvents(const EventTree& tree, std::vector<TimelineEvent>& events) {
  absl::flat_hash_set<std::pair<std::uint32_t, std::uint64_t>> live;  // device, address
  for (const TreeNode& node : tree.nodes) {
    if (node.kind == TreeNode::Kind::kRange) continue;
    const TreeAllocation& allocation = tree.allocations[node.call];
    if (tree.tensors[allocation.allocation] != kNoTensor) continue;
    TimelineEvent event{
        .ns = static_cast<std::int64_t>(node.ns), .bytes = allocation.bytes, .device = allocation.device};
    const std::pair place(allocation.device.value, allocation.address);
    if (node.kind == TreeNode::Kind::kAllocate) {
      event.action = live.insert(place).second ? TimelineAction::kCreate : TimelineAction::kIncrementVersion;
      events.push_back(event);
      continue;
    }
    event.action = TimelineAction::kDestroy;
    events.push_back(event);
    if (live.erase(place) != 0) continue;
    event.action = TimelineAction::kPreexisting;
    event.ns = TimelineEvent::kBefore;
    events.push_back(event);
  }
}

// Times at which storages were allocated and freed. kBefore: unknown.
struct Times {
  std::vector<std::int64_t> allocated, freed;  // by AllocationId

  explicit Times(const EventTree& tree)
      : allocated(tree.tensors.size(), TimelineEvent::kBefore), freed(tree.tensors.size(), TimelineEvent::kBefore) {
    for (const TreeNode& node : tree.nodes) {
      if (node.kind == TreeNode::Kind::kRange) continue;
      (node.kind == TreeNode::Kind::kAllocate ? allocated : freed)[tree.allocations[node.call].allocation] =
          static_cast<std::int64_t>(node.ns);
    }
  }
};

}  // namespace

std::string_view ToString(TimelineAction action) {
  switch (action) {
    case TimelineAction::kPreexisting:
      return "PREEXISTING";
    case TimelineAction::kCreate:
      return "CREATE";
    case TimelineAction::kIncrementVersion:
      return "INCREMENT_VERSION";
    case TimelineAction::kDestroy:
      return "DESTROY";
  }
  return "";
}

std::vector<TimelineEvent> BuildTimeline(const EventTree& tree, const DataFlowGraph& graph,
                                         const std::vector<bool>& known, const CategoryTable& table) {
  std::vector<TimelineEvent> events;
  AddNamelessEvents(tree, events);
  const Times times(tree);
  const auto add = [&](std::int64_t ns, TimelineAction action, AllocationId storage, std::uint32_t version) {
    events.push_back({ns, action, storage, version, tree.bytes[storage], tree.devices[storage]});
  };
  for (const AllocationId storage : TensorStorages(tree)) {
    if (known[table.Slot(storage, 0)] && times.allocated[storage] == TimelineEvent::kBefore)
      add(TimelineEvent::kBefore, TimelineAction::kPreexisting, storage, 0);
  }
  for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
    const auto begin = static_cast<std::int64_t>(tree.nodes[graph.nodes[node].event].ns);
    for (const FlowEdge& edge : graph.EdgesOf(node)) {
      if (edge.allocated()) {
        add(times.allocated[edge.storage], TimelineAction::kCreate, edge.storage, 0);
      } else if (edge.mutated && !edge.freed) {
        add(begin, TimelineAction::kIncrementVersion, edge.storage, edge.version);
      }
      if (edge.freed)
        add(times.freed[edge.storage], TimelineAction::kDestroy, edge.storage, graph.versions[edge.storage]);
    }
  }
  std::ranges::stable_sort(events, {}, [](const TimelineEvent& event) { return std::tuple(event.ns, event.action); });
  return events;
}

std::vector<TimelineRow> RowsOf(const std::vector<TimelineEvent>& events, const CategoryTable& table) {
  std::vector<TimelineRow> rows;
  rows.reserve(events.size());
  for (const TimelineEvent& event : events) {
    const auto add = [&](std::int64_t bytes, std::uint32_t version) {
      const bool named = event.storage != kNoAllocation;
      const Category category = named ? table.Get(event.storage, version) : Category::kUnknown;
      rows.push_back({event.ns, event.action, bytes, category, event.storage, version, event.device});
    };
    const auto bytes = static_cast<std::int64_t>(event.bytes);
    const bool increments = event.action == TimelineAction::kIncrementVersion;
    add(increments || event.action == TimelineAction::kDestroy ? -bytes : bytes, event.version);
    // Memory without a tensor has only one version, so both rows of an increment have this version. torch's rows are
    // the same.
    if (increments) add(bytes, event.storage == kNoAllocation ? event.version : event.version + 1);
  }
  return rows;
}

std::vector<TimelineState> StatesOf(const std::vector<TimelineRow>& rows) {
  std::vector<TimelineState> states;
  std::int64_t least = -1;
  for (const TimelineRow& row : rows) {
    const std::int64_t us = row.ns == TimelineEvent::kBefore ? row.ns : row.ns / 1000;
    if (least == -1 || (us < least && us > 0)) least = us;
    if (states.empty()) {
      states.push_back({us, {}});
    } else if (us != states.back().us) {
      states.push_back(states.back());
      states.back().us = us;
    }
    states.back().bytes[static_cast<std::size_t>(row.category)] += row.bytes;
  }
  for (TimelineState& state : states) {
    if (state.us < 0) state.us = least;
  }
  return states;
}

}  // namespace memoir
