#include "tools/analyze/calls/cuda_graph_book.h"

#include <algorithm>

namespace memoir {

std::size_t CudaGraphBook::Add(const DeviceCallEvent& event, const Dictionary& dictionary) {
  if (graphs_.size() == kMostGraphs) return kMostGraphs - 1;
  GraphRow graph;
  graph.number = static_cast<std::uint32_t>(graphs_.size() + 1);
  graph.process = process_;
  graph.device = ToString(dictionary.device(event.device));
  graph.stream = event.stream;
  graphs_.push_back(graph);
  return graphs_.size() - 1;
}

void CudaGraphBook::AddCall(const DeviceCallEvent& event, const Dictionary& dictionary, bool counts) {
  if (event.result != 0 && event.call != v1::STREAM_END_CAPTURE) return;
  switch (event.call) {
    case v1::STREAM_BEGIN_CAPTURE:
      capturing_[event.stream] = Add(event, dictionary);
      return;
    case v1::STREAM_END_CAPTURE: {
      const auto captured = capturing_.find(event.stream);
      if (captured == capturing_.end()) return;
      if (event.graph == 0) graphs_[captured->second].alive = false;  // the capture failed
      if (event.graph != 0) by_graph_[event.graph] = captured->second;
      capturing_.erase(captured);
      return;
    }
    case v1::GRAPH_INSTANTIATE: {
      const auto known = by_graph_.find(event.graph);
      const std::size_t graph = known == by_graph_.end() ? Add(event, dictionary) : known->second;
      graphs_[graph].instantiated = true;
      by_exec_[event.graph_exec] = graph;
      return;
    }
    case v1::GRAPH_LAUNCH:
      if (const auto known = by_exec_.find(event.graph_exec); known != by_exec_.end() && counts)
        ++graphs_[known->second].replays;
      return;
    case v1::GRAPH_DESTROY:
      if (const auto known = by_graph_.find(event.graph); known != by_graph_.end()) {
        if (!graphs_[known->second].instantiated) graphs_[known->second].alive = false;
        by_graph_.erase(known);
      }
      return;
    case v1::GRAPH_EXEC_DESTROY:
      if (const auto known = by_exec_.find(event.graph_exec); known != by_exec_.end()) {
        graphs_[known->second].alive = false;
        by_exec_.erase(known);
      }
      return;
    default:
      return;
  }
}

// Returns the graph that the event's stream is capturing. A stream that captures no graph may have joined the capture
// of another stream. For such a stream, returns the graph that is being captured if there is exactly one, otherwise
// nullptr.
GraphRow* CudaGraphBook::FindCapturing(const DeviceCallEvent& event) {
  if (capturing_.empty()) return nullptr;
  const auto own = capturing_.find(event.stream);
  if (own == capturing_.end() && capturing_.size() > 1) return nullptr;
  return &graphs_[own == capturing_.end() ? capturing_.begin()->second : own->second];
}

bool CudaGraphBook::AddLaunch(const DeviceCallEvent& event) {
  GraphRow* const graph = FindCapturing(event);
  if (graph != nullptr) ++graph->launches;
  return graph != nullptr;
}

void CudaGraphBook::AddBlock(const Block& block) {
  if (capturing_.empty() || (block.pool_graph == 0 && block.pool_user == 0)) return;
  for (const auto& [stream, at] : capturing_) {
    GraphRow& graph = graphs_[at];
    if (graph.pool_graph != 0 || graph.pool_user != 0) continue;
    graph.pool_graph = block.pool_graph;
    graph.pool_user = block.pool_user;
  }
}

void CudaGraphBook::AddSegment(const SegmentEvent& event) {
  const Block& segment = *event.segment;
  if (segment.pool_graph == 0 && segment.pool_user == 0) return;
  std::uint64_t& reserved = reserved_[{segment.pool_graph, segment.pool_user}];
  reserved = event.grows() || event.action == SegmentAction::kFound ? reserved + segment.bytes
                                                                    : reserved - std::min(reserved, segment.bytes);
}

std::vector<GraphRow> CudaGraphBook::Take() {
  for (GraphRow& graph : graphs_) {
    const auto reserved = reserved_.find({graph.pool_graph, graph.pool_user});
    if (reserved != reserved_.end()) graph.pool_bytes = reserved->second;
  }
  return std::move(graphs_);
}

}  // namespace memoir
