// Writes the arguments and results of a range into the ring: one kind byte for each value, the lengths of tensor lists,
// and a record for each tensor. The functions read only plain members of TensorImpl and StorageImpl. Virtual functions
// for the sizes or the device could run the Python code of a tensor subclass, and the function for the data of a
// copy-on-write storage would copy the data.
//
// Call the functions on the range's thread, when the range begins or ends. They do not allocate, and keep no reference.
#ifndef TRACKER_TORCH_TENSORS_RANGE_VALUES_H_
#define TRACKER_TORCH_TENSORS_RANGE_VALUES_H_

#include <ATen/core/ivalue.h>

#include <cstddef>
#include <cstdint>

#include "interpose/ring/ring.h"
#include "interpose/ring/ring_batch.h"

namespace memoir {

// The kinds of a range's arguments or results (docs/capture_format.md, "Argument kinds"). They are gathered before the
// range's record is written, because the record contains their number.
struct ValueKinds {
  std::uint8_t kinds[kMaxArguments];
  std::uint32_t list_lengths[kMaxLists];  // number of elements of each tensor list
  std::uint16_t count = 0;                // number of values in `kinds`
  std::uint16_t lists = 0;                // number of tensor lists
  std::uint32_t tensors = 0;              // number of tensors, and of elements of tensor lists

  // Number of bytes that the kinds and the list lengths need in a record.
  std::size_t RecordBytes() const;
  // Writes the kinds and the list lengths to `place`, which has room for RecordBytes().
  void Write(std::uint8_t* place) const;
};

// Fills `kinds`. Stops after kMaxArguments values, and before a tensor list if there are kMaxLists already. AddTensors
// ignores the values that FindKinds left out.
void FindKinds(c10::ArrayRef<const c10::IValue> values, ValueKinds& kinds);

// Adds a record for each tensor that FindKinds counted, in order. A record for which there is no room is dropped and
// counted.
void AddTensors(RingBatch& batch, std::uint16_t depth, c10::ArrayRef<const c10::IValue> values,
                const ValueKinds& kinds);

// Records one tensor. `impl` is nullptr for an undefined element of a list. `flags` are added to the flags of the
// record.
void RecordTensor(ThreadSlot* slot, const c10::TensorImpl* impl, std::uint8_t flags = 0);
// Returns the tensor that contains the values of a sparse tensor; nullptr if `impl` is not sparse.
const c10::TensorImpl* SparseValues(const c10::TensorImpl& impl);
// Returns the address of the first byte of the tensor's storage; 0 if the tensor has no storage. Calls no virtual
// function of the tensor.
std::uint64_t StorageAddress(const c10::TensorImpl& impl);

}  // namespace memoir

#endif  // TRACKER_TORCH_TENSORS_RANGE_VALUES_H_
