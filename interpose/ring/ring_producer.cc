// The producers' side of ring.h: the functions that hooks call on their cold path.

#include <pthread.h>

#include <cstring>

#include "interpose/ring/closed_rings.h"
#include "interpose/ring/name_table.h"
#include "interpose/ring/process_ring.h"
#include "interpose/ring/ring.h"
#include "interpose/ring/ring_extent_count.h"
#include "interpose/ring/ring_extent_pool.h"
#include "interpose/ring/thread_slots.h"
#include "interpose/system/errno_keeper.h"

namespace memoir {
namespace {

constinit std::atomic<std::uint64_t> segments_with_ranges{0};

void CountDrop(const RingMap& ring) { ring.header->dropped_records.fetch_add(1, std::memory_order_relaxed); }

bool FitsSegment(std::size_t bytes) { return bytes <= kMaxRecordBytes && bytes % 8 == 0; }

}  // namespace

ThreadSlot* RingAttachThread() {
  ErrnoKeeper errno_keeper;
  const RingVisit visit;
  const RingMap* ring = visit.ring();
  if (ring == nullptr || RecordingGeneration() != ring->generation) return nullptr;
  ThreadSlot* slot = memoir_thread_slot;
  if (slot != nullptr && slot->generation == ring->generation) return slot;
  slot = thread_has_left ? nullptr : ClaimSlot(*ring);
  if (slot == nullptr) {
    CountDrop(*ring);
    if (!thread_has_left) ring->header->slotless_records.fetch_add(1, std::memory_order_relaxed);
  }
  LeaveRing();  // leaves the ring of an earlier slot
  // Without the exit key nothing retires the slot, so it is never reused.
  if (slot != nullptr && ring_state.exit_key_made) pthread_setspecific(ring_state.exit_key, slot);
  memoir_thread_slot = slot;
  return slot;
}

std::uint8_t* RingReserveSlow(ThreadSlot* slot, std::size_t bytes, OnEmptyPool on_empty) {
  ErrnoKeeper errno_keeper;
  const RingVisit visit;
  const RingMap* ring = visit.ring();
  if (ring == nullptr) return nullptr;
  if (slot->generation != ring->generation) {
    // The slot and this record belong to an earlier ring. So the record is not counted as dropped by the open ring. The
    // thread's next record attaches to the open ring.
    memoir_thread_slot = nullptr;
    return nullptr;
  }
  // Gives up the extent even if the record will be dropped. An extent stores only the index of its first record, so a
  // dropped record's index can be skipped only between two extents.
  LeaveExtent(*ring, slot);
  const std::uint32_t segment = FitsSegment(bytes) ? TakeExtent(*ring, on_empty) : kNoSegment;
  if (!visit.IsStillOpen()) return nullptr;
  if (segment == kNoSegment) {
    slot->next_record += 1;
    CountDrop(*ring);
    return nullptr;
  }
  if (RangeEpoch() != 0) segments_with_ranges.fetch_add(1, std::memory_order_relaxed);
  EnterExtent(*ring, slot, segment);
  return slot->cursor;
}

std::uint64_t RingExtentsWithRanges() { return segments_with_ranges.load(std::memory_order_relaxed); }

void RingDropRecord(ThreadSlot* slot) {
  RecordHeader header{};
  header.words = sizeof header / 8;
  header.kind = RecordKind::kDropped;
  std::uint8_t* place = RingReserve(slot, sizeof header, OnEmptyPool::kDrop);
  if (place == nullptr) return;  // RingReserve has counted the drop
  std::memcpy(place, &header, sizeof header);
  RingCommit(slot, sizeof header);
  slot->stack_is_known = 0;
  const RingVisit visit;
  if (visit.ring() != nullptr) CountDrop(*visit.ring());
}

std::uint32_t RingDefineOperator(const char* name, const char* schema, const std::uint8_t* written,
                                 std::size_t arguments) {
  ErrnoKeeper errno_keeper;
  const RingVisit visit;
  const RingMap* ring = visit.ring();
  return ring == nullptr ? 0 : DefineName(*ring, name, schema, written, arguments);
}

std::uint32_t RingDefineModule(const char* root, const char* path, const char* class_name) {
  ErrnoKeeper errno_keeper;
  const RingVisit visit;
  const RingMap* ring = visit.ring();
  return ring == nullptr ? 0 : DefineModule(*ring, root, path, class_name);
}

std::uint32_t RingDefineCode(const char* file, const char* function) {
  ErrnoKeeper errno_keeper;
  const RingVisit visit;
  const RingMap* ring = visit.ring();
  return ring == nullptr ? 0 : DefineCode(*ring, file, function);
}

RingCounters RingReadCounters() {
  const RingVisit visit;
  const RingMap* ring = visit.ring();
  if (ring == nullptr) return {};
  return ReadCounters(*ring->header);
}

void RingCountDroppedAllocation(std::uint64_t bytes) {
  const RingVisit visit;
  const RingMap* ring = visit.ring();
  if (ring != nullptr) ring->header->dropped_allocated_bytes.fetch_add(bytes, std::memory_order_relaxed);
}

void RingCountStack(StackLoss loss) {
  const RingVisit visit;
  if (visit.ring() == nullptr) return;
  RingHeader& header = *visit.ring()->header;
  std::atomic<std::uint64_t>& counter = loss == StackLoss::kCut      ? header.cut_stacks
                                        : loss == StackLoss::kUnread ? header.unread_stacks
                                                                     : header.deep_calls;
  counter.fetch_add(1, std::memory_order_relaxed);
}

void RingSetProcessInfo(const void* bytes, std::size_t size) {
  const RingVisit visit;
  const RingMap* ring = visit.ring();
  if (ring == nullptr || size > kMaxProcessInfo) return;
  RingHeader& header = *ring->header;
  const std::uint32_t other = 1 - (header.process_info_switch.load(std::memory_order_relaxed) & 1);
  std::memcpy(header.process_info[other], bytes, size);
  header.process_info_switch.store(static_cast<std::uint32_t>(size) * 2 + other, std::memory_order_release);
}

}  // namespace memoir
