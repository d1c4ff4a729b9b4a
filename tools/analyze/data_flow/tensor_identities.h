// Which storage and which logical tensor an address stands for: torch.profiler's AllocationID and TensorID
// (torch/csrc/profiler/data_flow.cpp), found while events go by in time order.
//
// torch keeps every TensorImpl that it saw from being freed, so that its address is never reused. A capture's addresses
// are reused; results tell: a TensorImpl that a range returns without having been given it is another one.
#ifndef TOOLS_ANALYZE_DATA_FLOW_TENSOR_IDENTITIES_H_
#define TOOLS_ANALYZE_DATA_FLOW_TENSOR_IDENTITIES_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "tools/model/event.h"

namespace memoir {

// What lies at an address from its first sight to its deallocation: dense, from 0.
using AllocationId = std::uint32_t;
inline constexpr AllocationId kNoAllocation = 0xffffffffu;
// Allocations that were storage of one TensorImpl: dense, from 0.
using TensorId = std::uint32_t;
inline constexpr TensorId kNoTensor = 0xffffffffu;

class TensorIdentities {
 public:
  // An argument of a range, or a tensor that a module or an optimizer holds.
  AllocationId Seen(const Tensor& tensor);
  AllocationId Allocated(DeviceId device, std::uint64_t address) { return At(device, address); }
  AllocationId Deallocated(DeviceId device, std::uint64_t address);

  // Whether the TensorImpl was seen last with another storage.
  bool IsElsewhere(std::uint64_t impl, std::uint64_t storage) const {
    const auto known = impls_.find(impl);
    return known != impls_.end() && known->second.storage != storage;
  }
  // The storage of a living TensorImpl becomes `storage`: torch makes set_data of it, or an operator has resized it.
  void StorageChanges(std::uint64_t impl, std::uint64_t storage);
  // A range returned it and was not given it.
  void Returned(std::uint64_t impl, std::uint64_t storage);

  std::size_t allocations() const { return has_tensor_.size(); }
  // By allocation; kNoTensor: nothing proves that it was a tensor's.
  std::vector<TensorId> Finish() const;

 private:
  struct Impl {
    AllocationId first = kNoAllocation;
    AllocationId last = kNoAllocation;
    std::uint64_t storage = 0;
    std::uint64_t expected = 0;  // what its storage has become, when no event told
    bool changes = false;
  };
  using Place = std::pair<std::uint32_t, std::uint64_t>;  // device, address

  AllocationId At(DeviceId device, std::uint64_t address);

  absl::flat_hash_map<Place, AllocationId> live_;
  absl::flat_hash_map<std::uint64_t, Impl> impls_;
  absl::flat_hash_set<std::uint64_t> same_tensor_;  // pairs of allocations, the smaller one in the upper half
  std::vector<bool> has_tensor_;                    // by allocation
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_DATA_FLOW_TENSOR_IDENTITIES_H_
