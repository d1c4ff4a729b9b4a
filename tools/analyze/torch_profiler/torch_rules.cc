#include "tools/analyze/torch_profiler/torch_rules.h"

#include <algorithm>

#include "tools/analyze/torch_profiler/gradient_reach.h"

namespace memoir {
namespace {

bool IsGradientOrParameter(Category category) {
  return category == Category::kGradient || category == Category::kParameter;
}

// Each pass has the name of torch's function.
class Passes {
 public:
  Passes(const EventTree& tree, const DataFlowGraph& graph) : tree_(tree), graph_(graph), table_(tree, graph) {}

  void SetGradientsAndTemporaries();
  void SetParametersUsingPythonTracer();
  void SetInputs();
  void SetParametersUsingDataFlow();
  void SetActivations();
  void SetOptimizerState();
  void SetAutogradDetail();
  CategoryTable Take() { return std::move(table_); }

 private:
  bool IsBackward(std::size_t node) const { return tree_.nodes[graph_.nodes[node].event].in_backward; }
  std::size_t InputSlot(const FlowEdge& edge) const { return table_.Slot(edge.storage, edge.version); }
  std::size_t OutputSlot(const FlowEdge& edge) const { return table_.Slot(edge.storage, edge.output_version()); }
  Category InputCategory(const FlowEdge& edge) const { return table_.GetSlot(edge.storage, InputSlot(edge)); }
  Category OutputCategory(const FlowEdge& edge) const { return table_.GetSlot(edge.storage, OutputSlot(edge)); }
  // Returns true if `test` holds for (edge, slot, category) of one of the node's inputs or outputs.
  template <class Test>
  bool AnyVersion(std::size_t node, Test test) const {
    return std::ranges::any_of(graph_.EdgesOf(node), [&](const FlowEdge& edge) {
      return (edge.is_input() && test(edge, InputSlot(edge), InputCategory(edge))) ||
             (edge.is_output() && test(edge, OutputSlot(edge), OutputCategory(edge)));
    });
  }
  std::vector<bool> ProduceGradient() const;
  std::vector<bool> UsedForGradient() const;
  std::vector<bool> ParameterCandidates(const std::vector<bool>& known) const;

  const EventTree& tree_;
  const DataFlowGraph& graph_;
  CategoryTable table_;
  // The result of DependOnGradient. Computed once, by SetInputs(), because the categories from which it follows do not
  // change until SetParametersUsingDataFlow(), the last pass that reads it.
  std::vector<bool> depends_;
};

void Passes::SetGradientsAndTemporaries() {
  for (const AllocationId gradient : tree_.gradients) table_.SetTensor(gradient, Category::kGradient);
  for (const EventTree::ParameterGradient& held : tree_.parameter_gradients) {
    if (held.gradient != kNoAllocation) table_.SetTensor(held.gradient, Category::kGradient);
  }
  for (const FlowEdge& edge : graph_.edges) {
    if (edge.is_intermediate()) table_.SetStorage(edge.storage, Category::kTemporary);
  }
}

void Passes::SetParametersUsingPythonTracer() {
  for (const EventTree::ParameterGradient& held : tree_.parameter_gradients) {
    if (held.parameter != kNoAllocation) table_.SetTensor(held.parameter, Category::kParameter);
  }
}

// Returns by slot the versions that contribute to a gradient or a parameter.
std::vector<bool> Passes::ProduceGradient() const {
  std::vector<bool> produces(table_.slots());
  for (std::size_t node = graph_.nodes.size(); node-- > 0;) {
    const bool leads = AnyVersion(node, [&](const FlowEdge&, std::size_t slot, Category category) {
      return IsGradientOrParameter(category) || produces[slot];
    });
    if (!leads) continue;
    for (const FlowEdge& edge : graph_.EdgesOf(node)) {
      if (edge.is_input()) produces[InputSlot(edge)] = true;
      if (edge.is_output()) produces[OutputSlot(edge)] = true;
    }
  }
  return produces;
}

void Passes::SetInputs() {
  depends_ = DependOnGradient(tree_, graph_, table_);
  std::vector<bool> candidates = ProduceGradient();
  for (std::size_t node = 0; node < graph_.nodes.size(); ++node) {
    if (!IsBackward(node)) continue;
    for (const FlowEdge& edge : graph_.EdgesOf(node)) {
      if (edge.is_output()) candidates[OutputSlot(edge)] = false;
    }
  }
  for (AllocationId storage = 0; storage < tree_.tensors.size(); ++storage) {
    if (tree_.tensors[storage] == kNoTensor || depends_[tree_.tensors[storage]]) continue;
    for (std::uint32_t version = 0; version <= graph_.versions[storage]; ++version) {
      const std::size_t slot = table_.Slot(storage, version);
      if (candidates[slot]) table_.SuggestVersion(slot, Category::kInput);
    }
  }
}

// Returns by slot the versions that forward nodes read together with inputs, or with results of inputs. Versions that
// depend on inputs themselves are left out.
std::vector<bool> Passes::ParameterCandidates(const std::vector<bool>& known) const {
  std::vector<bool> candidates(table_.slots()), forward(table_.slots());
  for (AllocationId storage = 0; storage < tree_.tensors.size(); ++storage) {
    if (tree_.tensors[storage] == kNoTensor) continue;
    for (std::uint32_t version = 0; version <= graph_.versions[storage]; ++version) {
      const std::size_t slot = table_.Slot(storage, version);
      forward[slot] = known[slot] && table_.GetSlot(storage, slot) == Category::kInput;
    }
  }
  for (std::size_t node = 0; node < graph_.nodes.size(); ++node) {
    const absl::Span<const FlowEdge> edges = graph_.EdgesOf(node);
    const bool of_gradient = AnyVersion(
        node, [](const FlowEdge&, std::size_t, Category category) { return category == Category::kGradient; });
    const bool follows =
        std::ranges::any_of(edges, [&](const FlowEdge& edge) { return edge.is_input() && forward[InputSlot(edge)]; });
    if (IsBackward(node) || of_gradient || !follows) continue;
    for (const FlowEdge& edge : edges) {
      if (edge.is_output()) forward[OutputSlot(edge)] = true;
    }
    for (const FlowEdge& edge : edges) {
      if (edge.is_input() && !forward[InputSlot(edge)]) candidates[InputSlot(edge)] = true;
    }
  }
  return candidates;
}

// Returns by slot the versions that a gradient is computed from.
std::vector<bool> Passes::UsedForGradient() const {
  std::vector<bool> used(table_.slots());
  for (std::size_t node = graph_.nodes.size(); node-- > 0;) {
    const absl::Span<const FlowEdge> edges = graph_.EdgesOf(node);
    const bool leads = std::ranges::any_of(edges, [&](const FlowEdge& edge) {
      return edge.is_output() && (OutputCategory(edge) == Category::kGradient || used[OutputSlot(edge)]);
    });
    if (!leads) continue;
    for (const FlowEdge& edge : edges) {
      if (edge.is_input()) used[InputSlot(edge)] = true;
    }
  }
  return used;
}

void Passes::SetParametersUsingDataFlow() {
  const std::vector<bool> known = KnownVersions(tree_, graph_, table_);
  const std::vector<bool> candidates = ParameterCandidates(known);
  const std::vector<bool> used = UsedForGradient();
  std::vector<bool> parameters(depends_.size());
  for (AllocationId storage = 0; storage < tree_.tensors.size(); ++storage) {
    const TensorId tensor = tree_.tensors[storage];
    if (tensor == kNoTensor || !depends_[tensor]) continue;
    for (std::uint32_t version = 0; version <= graph_.versions[storage]; ++version) {
      const std::size_t slot = table_.Slot(storage, version);
      if (candidates[slot] && used[slot]) parameters[tensor] = true;
    }
  }
  for (AllocationId storage = 0; storage < tree_.tensors.size(); ++storage) {
    const TensorId tensor = tree_.tensors[storage];
    if (tensor == kNoTensor || !parameters[tensor]) continue;
    const auto begin = known.begin() + static_cast<std::ptrdiff_t>(table_.Slot(storage, 0));
    if (std::any_of(begin, begin + graph_.versions[storage] + 1, [](bool is) { return is; }))
      table_.SetTensor(storage, Category::kParameter);
  }
}

void Passes::SetActivations() {
  for (std::size_t node = 0; node < graph_.nodes.size(); ++node) {
    bool required = false, others = false;
    for (const FlowEdge& edge : graph_.EdgesOf(node)) {
      if (!edge.is_input()) continue;
      const Category category = InputCategory(edge);
      required |= category == Category::kInput || category == Category::kActivation;
      others |= category == Category::kGradient || category == Category::kAutogradDetail ||
                category == Category::kOptimizerState || category == Category::kUnknown;
    }
    if (!required || others || IsBackward(node)) continue;
    for (const FlowEdge& edge : graph_.EdgesOf(node)) {
      if (edge.is_output()) table_.SuggestVersion(OutputSlot(edge), Category::kActivation);
    }
  }
}

void Passes::SetOptimizerState() {
  for (const AllocationId state : tree_.optimizer_state) table_.SetTensor(state, Category::kOptimizerState);
}

void Passes::SetAutogradDetail() {
  for (std::size_t node = 0; node < graph_.nodes.size(); ++node) {
    if (!IsBackward(node)) continue;
    for (const FlowEdge& edge : graph_.EdgesOf(node)) {
      if (!edge.is_output()) continue;
      const std::uint32_t version = edge.output_version();
      const Category before = version == 0 ? Category::kUnknown : table_.Get(edge.storage, version - 1);
      if (before == Category::kUnknown || before == Category::kAutogradDetail)
        table_.SuggestVersion(OutputSlot(edge), Category::kAutogradDetail);
    }
  }
}

}  // namespace

CategoryTable::CategoryTable(const EventTree& tree, const DataFlowGraph& graph)
    : tensors_(tree.tensors),
      first_slot_(tree.tensors.size()),
      by_tensor_(tree.tensors.size(), Category::kUnknown),
      by_storage_(tree.tensors.size(), Category::kUnknown),
      named_(tree.tensors.size()) {
  std::size_t slots = 0;
  for (std::size_t i = 0; i < first_slot_.size(); ++i) {
    first_slot_[i] = slots;
    slots += graph.versions[i] + 1;
  }
  by_version_.resize(slots, Category::kUnknown);
}

Category CategoryTable::GetSlot(AllocationId storage, std::size_t slot) const {
  const TensorId tensor = tensors_[storage];
  if (tensor == kNoTensor) return Category::kUnknown;
  if (by_tensor_[tensor] != Category::kUnknown) return by_tensor_[tensor];
  return by_storage_[storage] != Category::kUnknown ? by_storage_[storage] : by_version_[slot];
}

Category CategoryTable::Get(AllocationId storage, std::uint32_t version) const {
  return GetSlot(storage, Slot(storage, version));
}

void CategoryTable::SetTensor(AllocationId storage, Category category) {
  by_tensor_[tensors_[storage]] = category;
  named_[storage] = true;
}

std::vector<bool> KnownVersions(const EventTree& tree, const DataFlowGraph& graph, const CategoryTable& table) {
  std::vector<bool> known(table.slots());
  for (const FlowEdge& edge : graph.edges) {
    if (edge.is_input()) known[table.Slot(edge.storage, edge.version)] = true;
    if (edge.is_output()) known[table.Slot(edge.storage, edge.output_version())] = true;
    if (edge.is_intermediate()) known[table.Slot(edge.storage, 0)] = true;
  }
  for (AllocationId storage = 0; storage < tree.tensors.size(); ++storage) {
    if (table.named_by(storage)) known[table.Slot(storage, 0)] = true;
  }
  return known;
}

CategoryTable CategorizeByTorchRules(const EventTree& tree, const DataFlowGraph& graph) {
  Passes passes(tree, graph);
  passes.SetGradientsAndTemporaries();
  passes.SetParametersUsingPythonTracer();
  passes.SetInputs();
  passes.SetParametersUsingDataFlow();
  passes.SetActivations();
  passes.SetOptimizerState();
  passes.SetAutogradDetail();
  return passes.Take();
}

}  // namespace memoir
