// Publishes several records of one event together, such as the begin of a range and the tensors of its arguments. If
// the thread's extent has room for all of them, a reader of the ring sees all or none, and the committed count is
// stored once. Otherwise the batch publishes the records that fit, and continues in the next extent.
//
// A hook uses a batch on the thread of the slot. No other code on the thread may write to the ring between Reserve and
// the end of the batch.
#ifndef INTERPOSE_RING_RING_BATCH_H_
#define INTERPOSE_RING_RING_BATCH_H_

#include <cstddef>
#include <cstdint>

#include "interpose/ring/ring.h"

namespace memoir {

class RingBatch {
 public:
  explicit RingBatch(ThreadSlot* slot) : slot_(slot), place_(slot->cursor) {}
  ~RingBatch() { Publish(); }
  RingBatch(const RingBatch&) = delete;
  RingBatch& operator=(const RingBatch&) = delete;

  // Returns room for a record, like RingReserve.
  std::uint8_t* Reserve(std::size_t bytes, OnEmptyPool on_empty) {
    const auto limit = reinterpret_cast<std::uintptr_t>(__atomic_load_n(&slot_->limit, __ATOMIC_RELAXED));
    // The difference is signed, for the reasons given in RingReserve.
    const std::uintptr_t room = limit - reinterpret_cast<std::uintptr_t>(place_);
    if (static_cast<std::ptrdiff_t>(room) >= static_cast<std::ptrdiff_t>(bytes)) [[likely]]
      return place_;
    Publish();
    std::uint8_t* const found = RingReserveSlow(slot_, bytes, on_empty);
    place_ = slot_->cursor;
    return found;
  }
  // Call it after writing the record at the place that Reserve returned. `bytes`: the record's length.
  void Add(std::size_t bytes) {
    place_ += bytes;
    ++records_;
  }

 private:
  void Publish() {
    if (records_ == 0) return;
    slot_->next_record += records_ - 1;
    RingCommit(slot_, static_cast<std::size_t>(place_ - slot_->cursor));
    records_ = 0;
  }

  ThreadSlot* slot_;
  std::uint8_t* place_;
  std::uint64_t records_ = 0;
};

}  // namespace memoir

#endif  // INTERPOSE_RING_RING_BATCH_H_
