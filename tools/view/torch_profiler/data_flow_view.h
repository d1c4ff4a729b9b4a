// A data-flow graph as torch's own tests print it, as JSON, and for Graphviz.
#ifndef TOOLS_VIEW_TORCH_PROFILER_DATA_FLOW_VIEW_H_
#define TOOLS_VIEW_TORCH_PROFILER_DATA_FLOW_VIEW_H_

#include <functional>
#include <string>
#include <string_view>

#include "tools/analyze/data_flow/data_flow_graph.h"
#include "tools/analyze/data_flow/event_tree.h"

namespace memoir {

using WriteText = std::function<void(std::string_view)>;

// "aten::mul                 T0(v0), T1(v0)   ->  T2(v0)"; a version with a '*' is the last: the node frees it. Nodes
// that take and make nothing are left out. Without line end.
std::string FlowLine(const EventTree& tree, const DataFlowGraph& graph, std::size_t node);

void WriteDataFlowText(const EventTree& tree, const DataFlowGraph& graph, const WriteText& write);
void WriteDataFlowJson(const EventTree& tree, const DataFlowGraph& graph, const WriteText& write);
void WriteDataFlowDot(const EventTree& tree, const DataFlowGraph& graph, const WriteText& write);

// The event tree, two spaces a level, without overloads.
void WriteTreeText(const EventTree& tree, const WriteText& write);

}  // namespace memoir

#endif  // TOOLS_VIEW_TORCH_PROFILER_DATA_FLOW_VIEW_H_
