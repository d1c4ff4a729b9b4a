// Arguments and results of a range, as the ring records them: one kind byte per value, the lengths of tensor lists, and
// a record for each tensor. Reads only plain members of TensorImpl and StorageImpl: asking a tensor subclass for its
// sizes or its device would run its Python code, and asking a copy-on-write storage for its data would copy it.
//
// Called inside a range's begin or end, on its thread. Allocates nothing, keeps no reference.
#ifndef TRACKER_TORCH_RANGE_VALUES_H_
#define TRACKER_TORCH_RANGE_VALUES_H_

#include <ATen/core/ivalue.h>

#include <cstddef>
#include <cstdint>

#include "interpose/ring.h"
#include "interpose/ring_batch.h"

namespace memoir {

// What a range shows of its values, gathered before its record is written, because the record states the counts.
struct ValueKinds {
  std::uint8_t kinds[kMaxArguments];
  std::uint32_t list_lengths[kMaxLists];
  std::uint16_t count = 0;
  std::uint16_t lists = 0;
  std::uint32_t tensors = 0;

  // Bytes that the kinds and list lengths take in a record.
  std::size_t RecordBytes() const;
  void Write(std::uint8_t* place) const;
};

// Fills `kinds`. Values beyond kMaxArguments, and lists beyond kMaxLists, are not seen, here and in AddTensors alike.
void FindKinds(c10::ArrayRef<const c10::IValue> values, ValueKinds& kinds);

// Adds a record for every tensor that FindKinds counted, in order. One record that finds no room is a counted drop.
void AddTensors(RingBatch& batch, std::uint16_t depth, c10::ArrayRef<const c10::IValue> values,
                const ValueKinds& kinds);

// One tensor by itself. `impl` may be null: an undefined element of a list. `flags` of the record beside those that it
// shows.
void RecordTensor(ThreadSlot* slot, const c10::TensorImpl* impl, std::uint8_t flags = 0);
// What a sparse tensor has its values in; nullptr: it is not sparse.
const c10::TensorImpl* SparseValues(const c10::TensorImpl& impl);
// Address of a storage's first byte, asking nobody; 0: it has none.
std::uint64_t StorageAddress(const c10::TensorImpl& impl);

}  // namespace memoir

#endif  // TRACKER_TORCH_RANGE_VALUES_H_
