#include "tools/analyze/torch_profiler/gradient_reach.h"

#include <cstdint>

namespace memoir {
namespace {

bool IsGradientOrParameter(Category category) {
  return category == Category::kGradient || category == Category::kParameter;
}

// The nodes that read a tensor, by tensor.
struct Readers {
  std::vector<std::uint32_t> begin;  // by TensorId: index of the first reader; the last element is the size of `nodes`
  std::vector<std::uint32_t> nodes;
};

Readers FindReaders(const EventTree& tree, const DataFlowGraph& graph, std::size_t tensors) {
  Readers readers;
  readers.begin.resize(tensors + 1);
  for (const FlowEdge& edge : graph.edges) {
    if (edge.is_input()) ++readers.begin[tree.tensors[edge.storage] + 1];
  }
  for (std::size_t i = 1; i < readers.begin.size(); ++i) readers.begin[i] += readers.begin[i - 1];
  readers.nodes.resize(readers.begin.back());
  std::vector<std::uint32_t> next(readers.begin.begin(), readers.begin.end() - 1);
  for (std::uint32_t node = 0; node < graph.nodes.size(); ++node) {
    for (const FlowEdge& edge : graph.EdgesOf(node)) {
      if (edge.is_input()) readers.nodes[next[tree.tensors[edge.storage]]++] = node;
    }
  }
  return readers;
}

}  // namespace

std::vector<bool> DependOnGradient(const EventTree& tree, const DataFlowGraph& graph, const CategoryTable& table) {
  std::size_t tensors = 0;
  for (const TensorId id : tree.tensors) tensors = id == kNoTensor ? tensors : std::max<std::size_t>(tensors, id + 1);
  const Readers readers = FindReaders(tree, graph, tensors);
  std::vector<bool> depends(tensors), done(graph.nodes.size());
  std::vector<TensorId> waiting;
  const auto add = [&](TensorId id) {
    if (depends[id]) return;
    depends[id] = true;
    waiting.push_back(id);
  };
  // A node's results depend on a gradient if one of its inputs does.
  const auto reach = [&](std::uint32_t node) {
    if (done[node]) return;
    done[node] = true;
    for (const FlowEdge& edge : graph.EdgesOf(node)) {
      if (edge.is_output()) add(tree.tensors[edge.storage]);
    }
  };
  for (std::uint32_t node = 0; node < graph.nodes.size(); ++node) {
    for (const FlowEdge& edge : graph.EdgesOf(node)) {
      if (!edge.is_input() || !IsGradientOrParameter(table.Get(edge.storage, edge.version))) continue;
      add(tree.tensors[edge.storage]);
      reach(node);
    }
  }
  while (!waiting.empty()) {
    const TensorId id = waiting.back();
    waiting.pop_back();
    for (std::uint32_t i = readers.begin[id]; i < readers.begin[id + 1]; ++i) reach(readers.nodes[i]);
  }
  return depends;
}

}  // namespace memoir
