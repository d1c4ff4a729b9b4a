// Writes one record of a fixed size into the calling thread's ring extent. By default drops the record if there is no
// room, because hooks may run under an allocator's lock, where they may not wait. Hooks that may wait pass
// OnEmptyPool::kWait.
#ifndef INTERPOSE_RING_WRITE_RECORD_H_
#define INTERPOSE_RING_WRITE_RECORD_H_

#include <cstdint>
#include <new>

#include "interpose/ring/ring.h"
#include "interpose/system/tick.h"

namespace memoir {

// Calls `fill` to set the fields of a new record. False, without calling `fill`, if the thread has no slot or the
// record has no room.
template <class Record, class Fill>
bool WriteRecord(RecordKind kind, std::uint8_t flags, Fill fill, OnEmptyPool on_empty = OnEmptyPool::kDrop) {
  ThreadSlot* slot = RingThread();
  std::uint8_t* place = slot == nullptr ? nullptr : RingReserve(slot, sizeof(Record), on_empty);
  if (place == nullptr) return false;
  auto* record = new (place) Record{};
  record->header.words = sizeof(Record) / 8;
  record->header.kind = kind;
  record->header.flags = flags;
  record->header.depth = RingDepth(slot);
  record->tick = Tick();
  fill(*record);
  RingCommit(slot, sizeof(Record));
  return true;
}

}  // namespace memoir

#endif  // INTERPOSE_RING_WRITE_RECORD_H_
