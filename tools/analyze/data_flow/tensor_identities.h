// Identifies the storage and the logical tensor behind an address: torch.profiler's AllocationID and TensorID
// (torch/csrc/profiler/data_flow.cpp). Events must be added in the order of time.
//
// torch.profiler keeps alive each TensorImpl that it has seen, so an address identifies one TensorImpl. Memoir does not
// keep them alive, so in a recording an address may belong to several TensorImpls, one after another. If a range
// returns a TensorImpl that it did not receive, and the TensorImpl has another storage than before, it is a new
// TensorImpl at a reused address.
#ifndef TOOLS_ANALYZE_DATA_FLOW_TENSOR_IDENTITIES_H_
#define TOOLS_ANALYZE_DATA_FLOW_TENSOR_IDENTITIES_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "tools/model/event/event.h"

namespace memoir {

// Number of an allocation: the memory at an address, from its first occurrence to its deallocation. Consecutive from 0.
using AllocationId = std::uint32_t;
inline constexpr AllocationId kNoAllocation = 0xffffffffu;
// Number of a logical tensor. All allocations that were the storage of one TensorImpl belong to one tensor. Consecutive
// from 0.
using TensorId = std::uint32_t;
inline constexpr TensorId kNoTensor = 0xffffffffu;

class TensorIdentities {
 public:
  // Notes an argument of a range, or a tensor that a module or an optimizer holds.
  AllocationId NoteTensor(const Tensor& tensor);
  AllocationId NoteAllocation(DeviceId device, std::uint64_t address) { return AllocationAt(device, address); }
  AllocationId NoteDeallocation(DeviceId device, std::uint64_t address);

  // Returns true if the TensorImpl was last seen with another storage.
  bool IsElsewhere(std::uint64_t impl, std::uint64_t storage) const {
    const auto known = impls_.find(impl);
    return known != impls_.end() && known->second.storage != storage;
  }
  // Notes that the storage of a live TensorImpl becomes `storage`, because of set_data, or because an operator resized
  // the tensor.
  void NoteStorageChange(std::uint64_t impl, std::uint64_t storage);
  // Notes a TensorImpl that a range returned and had not received.
  void NoteResult(std::uint64_t impl, std::uint64_t storage);

  std::size_t allocations() const { return has_tensor_.size(); }
  // Returns the tensor of each allocation. kNoTensor: no event shows that the allocation belonged to a tensor.
  std::vector<TensorId> Finish() const;

 private:
  struct Impl {
    AllocationId first = kNoAllocation;  // the first storage of the TensorImpl
    AllocationId last = kNoAllocation;   // its newest storage
    std::uint64_t storage = 0;           // address of `last`
    std::uint64_t expected = 0;          // after NoteStorageChange: the address of the new storage
    bool changes = false;                // NoteStorageChange was called, and no NoteTensor since
  };
  using Place = std::pair<std::uint32_t, std::uint64_t>;  // device, address

  AllocationId AllocationAt(DeviceId device, std::uint64_t address);

  absl::flat_hash_map<Place, AllocationId> live_;
  absl::flat_hash_map<std::uint64_t, Impl> impls_;
  // Pairs of allocations of one tensor. The smaller number is in the upper 32 bits.
  absl::flat_hash_set<std::uint64_t> same_tensor_;
  std::vector<bool> has_tensor_;  // by allocation
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_DATA_FLOW_TENSOR_IDENTITIES_H_
