// The data-flow graph of torch.profiler's memory profiler (torch/profiler/_memory_profiler.py): the versions of
// storages that each operator or autograd node reads, makes and frees.
//
// A node is a topmost operator, an autograd node, or an allocation or free outside of both. A storage begins with
// version 0. Each node that may write to the storage makes its next version.
#ifndef TOOLS_ANALYZE_DATA_FLOW_DATA_FLOW_GRAPH_H_
#define TOOLS_ANALYZE_DATA_FLOW_DATA_FLOW_GRAPH_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "tools/analyze/data_flow/event_tree.h"

namespace memoir {

// A storage that a node reads, makes or frees.
struct FlowEdge {
  static constexpr std::uint32_t kAllocated = 0xffffffffu;

  AllocationId storage = 0;
  std::uint32_t version = kAllocated;  // version that the node received; kAllocated: the node allocated the storage
  bool mutated = false;
  bool freed = false;  // takes precedence over `mutated`

  bool allocated() const { return version == kAllocated; }
  bool is_input() const { return !allocated(); }
  bool is_output() const { return (allocated() && !freed) || (mutated && !freed); }
  bool is_intermediate() const { return allocated() && freed; }
  std::uint32_t output_version() const { return allocated() ? 0 : version + 1; }
};

struct FlowNode {
  std::uint32_t event = 0;  // index in EventTree::nodes
  // First index in DataFlowGraph::edges. The node's edges end where the edges of the next node begin.
  std::uint32_t edges = 0;
};

struct DataFlowGraph {
  std::vector<FlowNode> nodes;          // in the order in which they begin
  std::vector<FlowEdge> edges;          // the edges of a node are ordered by tensor, then by storage
  std::vector<std::uint32_t> versions;  // newest version, by AllocationId

  absl::Span<const FlowEdge> EdgesOf(std::size_t node) const;
};

DataFlowGraph BuildDataFlowGraph(const EventTree& tree);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_DATA_FLOW_DATA_FLOW_GRAPH_H_
