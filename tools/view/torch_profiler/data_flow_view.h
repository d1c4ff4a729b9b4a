// Prints a data-flow graph as torch's own tests print it, as JSON, and for Graphviz.
#ifndef TOOLS_VIEW_TORCH_PROFILER_DATA_FLOW_VIEW_H_
#define TOOLS_VIEW_TORCH_PROFILER_DATA_FLOW_VIEW_H_

#include <functional>
#include <string>
#include <string_view>

#include "tools/analyze/data_flow/data_flow_graph.h"
#include "tools/analyze/data_flow/event_tree.h"

namespace memoir {

using TextWriter = std::function<void(std::string_view)>;

// Returns "aten::mul                 T0(v0), T1(v0)   ->  T2(v0)", without a newline. '*' marks a version that the node
// frees. Empty for a node without inputs and outputs.
std::string FlowLine(const EventTree& tree, const DataFlowGraph& graph, std::size_t node);

void WriteDataFlowText(const EventTree& tree, const DataFlowGraph& graph, const TextWriter& write);
void WriteDataFlowJson(const EventTree& tree, const DataFlowGraph& graph, const TextWriter& write);
void WriteDataFlowDot(const EventTree& tree, const DataFlowGraph& graph, const TextWriter& write);

// Writes the event tree with two spaces for each level, without overloads.
void WriteTreeText(const EventTree& tree, const TextWriter& write);

}  // namespace memoir

#endif  // TOOLS_VIEW_TORCH_PROFILER_DATA_FLOW_VIEW_H_
