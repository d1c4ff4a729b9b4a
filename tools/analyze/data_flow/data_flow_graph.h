// The data-flow graph of torch.profiler's memory profiler (torch/profiler/_memory_profiler.py): which versions of which
// storages each operator or node of autograd reads, makes, frees.
//
// A node is a topmost operator, a node of autograd, or an allocation or free outside of both. A storage begins with
// version 0; each node that may write to it makes the next one.
#ifndef TOOLS_ANALYZE_DATA_FLOW_DATA_FLOW_GRAPH_H_
#define TOOLS_ANALYZE_DATA_FLOW_DATA_FLOW_GRAPH_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "tools/analyze/data_flow/event_tree.h"

namespace memoir {

struct FlowEdge {
  static constexpr std::uint32_t kAllocated = 0xffffffffu;

  AllocationId storage = 0;
  std::uint32_t version = kAllocated;  // that the node was given; kAllocated: it made the storage
  bool mutated = false;
  bool freed = false;  // comes before `mutated`

  bool allocated() const { return version == kAllocated; }
  bool is_input() const { return !allocated(); }
  bool is_output() const { return (allocated() && !freed) || (mutated && !freed); }
  bool is_intermediate() const { return allocated() && freed; }
  std::uint32_t output_version() const { return allocated() ? 0 : version + 1; }
};

struct FlowNode {
  std::uint32_t event = 0;  // in EventTree::nodes
  std::uint32_t edges = 0;  // its first in DataFlowGraph::edges; they end where the next node's begin
};

struct DataFlowGraph {
  std::vector<FlowNode> nodes;          // by the time of their begin
  std::vector<FlowEdge> edges;          // of a node by tensor, then storage
  std::vector<std::uint32_t> versions;  // by AllocationId: the last one

  absl::Span<const FlowEdge> EdgesOf(std::size_t node) const;
};

DataFlowGraph BuildDataFlowGraph(const EventTree& tree);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_DATA_FLOW_DATA_FLOW_GRAPH_H_
