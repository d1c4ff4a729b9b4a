// Determines the category of each version of each storage by the rules of torch.profiler's memory profiler
// (torch/profiler/_memory_profiler.py, MemoryProfile), including its mistakes. Runs torch's seven passes in the same
// order.
#ifndef TOOLS_ANALYZE_TORCH_PROFILER_TORCH_RULES_H_
#define TOOLS_ANALYZE_TORCH_PROFILER_TORCH_RULES_H_

#include <cstdint>
#include <vector>

#include "tools/analyze/categories/category.h"
#include "tools/analyze/data_flow/data_flow_graph.h"
#include "tools/analyze/data_flow/event_tree.h"

namespace memoir {

// torch's CategoryDict. A tensor's category takes precedence over its storage's, and the storage's over its version's.
class CategoryTable {
 public:
  CategoryTable(const EventTree& tree, const DataFlowGraph& graph);

  Category Get(AllocationId storage, std::uint32_t version) const;
  void SetTensor(AllocationId storage, Category category);
  void SetStorage(AllocationId storage, Category category) { by_storage_[storage] = category; }
  // Sets the category of a version, unless it is already set.
  void SuggestVersion(std::size_t slot, Category category) {
    if (by_version_[slot] == Category::kUnknown) by_version_[slot] = category;
  }

  // A slot is the number of a version among the versions of all storages, and the index of the version in arrays.
  std::size_t Slot(AllocationId storage, std::uint32_t version) const { return first_slot_[storage] + version; }
  std::size_t slots() const { return by_version_.size(); }
  Category GetSlot(AllocationId storage, std::size_t slot) const;

  // Returns true if this storage determined the category of its tensor.
  bool named_by(AllocationId storage) const { return named_[storage]; }
  TensorId tensor(AllocationId storage) const { return tensors_[storage]; }

 private:
  const std::vector<TensorId>& tensors_;
  std::vector<std::size_t> first_slot_;  // by AllocationId
  std::vector<Category> by_tensor_;      // by TensorId
  std::vector<Category> by_storage_;     // by AllocationId
  std::vector<Category> by_version_;     // by slot
  std::vector<bool> named_;              // by AllocationId
};

// `tree` must outlive the result.
CategoryTable CategorizeByTorchRules(const EventTree& tree, const DataFlowGraph& graph);

// Returns by slot whether the graph or the table contains the version: torch's _category_snapshot.
std::vector<bool> KnownVersions(const EventTree& tree, const DataFlowGraph& graph, const CategoryTable& table);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_TORCH_PROFILER_TORCH_RULES_H_
