#include "tools/analyze/data_flow/tensor_identities.h"

#include <algorithm>

namespace memoir {

AllocationId TensorIdentities::AllocationAt(DeviceId device, std::uint64_t address) {
  const auto [known, added] = live_.try_emplace({device.value, address}, static_cast<AllocationId>(has_tensor_.size()));
  if (added) has_tensor_.push_back(false);
  return known->second;
}

AllocationId TensorIdentities::NoteTensor(const Tensor& tensor) {
  const AllocationId allocation = AllocationAt(tensor.device, tensor.storage);
  has_tensor_[allocation] = true;
  Impl& impl = impls_[tensor.impl];
  if (impl.last != allocation) {
    const bool same = impl.last != kNoAllocation && impl.changes && impl.expected == tensor.storage;
    if (!same) impl.first = allocation;
    impl.last = allocation;
    impl.storage = tensor.storage;
    const auto [less, more] = std::minmax(impl.first, allocation);
    if (less != more) same_tensor_.insert(std::uint64_t{less} << 32 | more);
  }
  impl.changes = false;
  return allocation;
}

AllocationId TensorIdentities::NoteDeallocation(DeviceId device, std::uint64_t address) {
  const AllocationId allocation = AllocationAt(device, address);
  live_.erase({device.value, address});
  return allocation;
}

void TensorIdentities::NoteStorageChange(std::uint64_t impl, std::uint64_t storage) {
  const auto known = impls_.find(impl);
  if (known == impls_.end() || known->second.storage == storage) return;
  known->second.changes = true;
  known->second.expected = storage;
}

void TensorIdentities::NoteResult(std::uint64_t impl, std::uint64_t storage) {
  const auto known = impls_.find(impl);
  if (known == impls_.end() || known->second.storage == storage) return;
  // The tensor was made inside of the range. An inner operator that received the tensor resized it (aten::arange with
  // its `out`).
  if (known->second.changes && known->second.expected == storage) return;
  impls_.erase(known);
}

// Follows torch's algorithm: visits, in ascending order, the pairs of allocations that belong to one tensor.
std::vector<TensorId> TensorIdentities::Finish() const {
  std::vector<std::uint64_t> pairs(same_tensor_.begin(), same_tensor_.end());
  for (std::uint64_t id = 0; id < has_tensor_.size(); ++id) {
    if (has_tensor_[id]) pairs.push_back(id << 32 | id);
  }
  std::ranges::sort(pairs);
  std::vector<TensorId> tensors(has_tensor_.size(), kNoTensor);
  TensorId next = 0;
  for (const std::uint64_t pair : pairs) {
    TensorId& first = tensors[pair >> 32];
    TensorId& second = tensors[pair & 0xffffffffu];
    if (first == kNoTensor) first = next++;
    if (second == kNoTensor) second = first;
  }
  return tensors;
}

}  // namespace memoir
