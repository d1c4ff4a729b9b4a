#include "interpose/ring/thread_slots.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "interpose/ring/closed_rings.h"
#include "interpose/ring/process_ring.h"
#include "interpose/ring/ring_extent_pool.h"
#include "interpose/system/errno_keeper.h"

namespace memoir {
namespace {

// The exit handler runs in this many passes, because other exit handlers of the thread may free memory after Memoir's
// handler has run. glibc makes PTHREAD_DESTRUCTOR_ITERATIONS (4) passes.
constexpr std::uint16_t kExitPasses = 3;

std::atomic<std::uint32_t>& StateOf(ThreadSlot& slot) { return slot.state; }
constexpr std::uint32_t Raw(SlotState state) { return static_cast<std::uint32_t>(state); }
constexpr std::uint32_t Raw(SegmentState state) { return static_cast<std::uint32_t>(state); }

// Decrements the count of free slots to reserve one of them, so that a caller needs no search if no slot is free.
bool ReserveOne(std::atomic<std::uint32_t>* free_slots) {
  std::uint32_t left = free_slots->load(std::memory_order_relaxed);
  while (left != 0) {
    if (free_slots->compare_exchange_weak(left, left - 1, std::memory_order_acq_rel)) return true;
  }
  return false;
}

// The caller has a reservation (ReserveOne), so a free slot exists.
std::uint32_t FindFree(const RingMap& ring) {
  std::uint32_t at = ring.header->slot_hint.fetch_add(1, std::memory_order_relaxed);
  for (;; ++at) {
    std::uint32_t expected = Raw(SlotState::kFree);
    if (StateOf(ring.slots[at % kThreadSlots])
            .compare_exchange_strong(expected, Raw(SlotState::kClaimed), std::memory_order_acq_rel)) {
      return at % kThreadSlots;
    }
  }
}

void FillIdentity(const RingMap& ring, ThreadSlot* slot) {
  slot->thread = ring.header->last_thread.fetch_add(1, std::memory_order_relaxed) + 1;
  slot->os_id = static_cast<std::uint64_t>(syscall(SYS_gettid));
  slot->torch_id.store(0, std::memory_order_relaxed);
  slot->works_for.store(thread_works_for, std::memory_order_relaxed);
  std::memset(slot->name, 0, sizeof slot->name);
  prctl(PR_GET_NAME, slot->name, 0, 0, 0);
}

// Makes the slot own no extent.
void Disown(ThreadSlot* slot) {
  slot->cursor = slot->base = nullptr;
  __atomic_store_n(&slot->limit, nullptr, __ATOMIC_RELAXED);  // atomic, because RingClose writes it as well
  slot->committed = nullptr;
  slot->segment = kNoSegment;
}

}  // namespace

constinit thread_local std::uint32_t thread_works_for = 0;

ThreadSlot* ClaimSlot(const RingMap& ring) {
  // Only the reader frees retired slots, so the reader is woken if few slots are free. If there are no retired slots,
  // the reader is not woken, because a thread without a slot would wake it with each record.
  const bool few_are_free = ring.header->free_slots.load(std::memory_order_relaxed) < kThreadSlots / 2;
  if (few_are_free && ring.header->retired_slots.load(std::memory_order_relaxed) != 0) WakeReader(ring);
  if (!ReserveOne(&ring.header->free_slots)) return nullptr;
  ThreadSlot* slot = &ring.slots[FindFree(ring)];
  Disown(slot);
  slot->next_record = 0;
  slot->depth = 0;
  slot->range_epoch = 0;
  slot->exit_passes = 0;
  slot->generation = ring.generation;
  slot->left.store(0, std::memory_order_relaxed);
  // All extents of the slot's previous thread are back in the pool, else the slot would not have been free.
  slot->segments.store(0, std::memory_order_relaxed);
  FillIdentity(ring, slot);
  slot->state.store(Raw(SlotState::kLive), std::memory_order_release);
  return slot;
}

void LeaveExtent(const RingMap& ring, ThreadSlot* slot) {
  if (slot->segment == kNoSegment) return;
  ring.header->full_count.fetch_add(1, std::memory_order_relaxed);
  ring.segment_headers[slot->segment].state.store(Raw(SegmentState::kFull), std::memory_order_release);
  Disown(slot);
}

void EnterExtent(const RingMap& ring, ThreadSlot* slot, std::uint32_t segment) {
  SegmentHeader& header = ring.segment_headers[segment];
  // The reader ignores a free extent, so its fields may be set in any order before the state.
  header.thread = slot->thread;
  header.slot = static_cast<std::uint32_t>(slot - ring.slots);
  header.committed.store(0, std::memory_order_relaxed);
  header.first_record = slot->next_record;
  header.consumed = 0;
  header.consumed_records = 0;
  slot->segments.fetch_add(1, std::memory_order_relaxed);
  header.state.store(Raw(SegmentState::kOwned), std::memory_order_release);
  slot->segment = segment;
  slot->stack_is_known = 0;
  slot->base = slot->cursor = ring.ExtentBytes(segment);
  __atomic_store_n(&slot->limit, slot->base + kSegmentBytes, __ATOMIC_RELAXED);
  slot->committed = &header.committed;
}

void ReleaseSlotIfDone(const RingMap& ring, std::uint32_t index) {
  ThreadSlot& slot = ring.slots[index];
  if (slot.state.load(std::memory_order_acquire) != Raw(SlotState::kRetired)) return;
  if (slot.segments.load(std::memory_order_acquire) != 0) return;
  slot.state.store(Raw(SlotState::kFree), std::memory_order_release);
  ring.header->retired_slots.fetch_sub(1, std::memory_order_relaxed);
  ring.header->free_slots.fetch_add(1, std::memory_order_release);
}

void OnThreadExit(void* value) {
  ErrnoKeeper errno_keeper;
  auto* slot = static_cast<ThreadSlot*>(value);
  const RingVisit visit;
  const RingMap* ring = visit.ring();
  const bool is_open = ring != nullptr && slot->generation == ring->generation;
  if (is_open && ++slot->exit_passes < kExitPasses && pthread_setspecific(ring_state.exit_key, slot) == 0) return;
  if (is_open) {
    LeaveExtent(*ring, slot);
    ring->header->retired_slots.fetch_add(1, std::memory_order_relaxed);
  }
  // The thread must leave the ring before another thread can claim the slot. LeaveRing reads the key's value, which
  // glibc has cleared, so the value is set again.
  if (pthread_setspecific(ring_state.exit_key, slot) == 0) LeaveRing();
  if (!is_open) return;
  memoir_thread_slot = nullptr;
  slot->state.store(Raw(SlotState::kRetired), std::memory_order_release);
  thread_has_left = true;
}

}  // namespace memoir
