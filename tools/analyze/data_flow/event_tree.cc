#include "tools/analyze/data_flow/event_tree.h"

#include <algorithm>

namespace memoir {

absl::Span<const TreeInput> EventTree::InputsOf(std::uint32_t node) const {
  const std::size_t begin = nodes[node].inputs;
  const std::size_t end = node + 1 < nodes.size() ? nodes[node + 1].inputs : inputs.size();
  return absl::MakeConstSpan(inputs).subspan(begin, end - begin);
}

void NotePeak(const DeviceMemory& memory, DeviceId device, EventTree& tree) {
  if (!memory.caching()) return;
  if (tree.peaks.size() <= device.value) tree.peaks.resize(device.value + 1);
  EventTree::Peak& peak = tree.peaks[device.value];
  peak.allocated = std::max(peak.allocated, memory.allocated().all);
  peak.reserved = std::max(peak.reserved, memory.reserved().all);
}

std::vector<AllocationId> TensorStorages(const EventTree& tree) {
  std::vector<AllocationId> storages;
  for (AllocationId storage = 0; storage < tree.tensors.size(); ++storage) {
    if (tree.tensors[storage] != kNoTensor) storages.push_back(storage);
  }
  std::ranges::stable_sort(storages, {}, [&](AllocationId storage) { return tree.tensors[storage]; });
  return storages;
}

}  // namespace memoir
