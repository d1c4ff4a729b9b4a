// Thread slots: claimed at a thread's first record, retired by its exit, returned by the reader once its segments are
// consumed.
//
//     kFree ──claim──► kClaimed ──filled──► kLive ──thread exit──► kRetired ──all segments consumed──► kFree
//      (any thread)                 (owner)               (owner)                        (reader)
#ifndef INTERPOSE_THREAD_SLOTS_H_
#define INTERPOSE_THREAD_SLOTS_H_

#include <cstdint>

#include "interpose/ring_layout.h"

namespace memoir {

// Number of the thread in whose parallel region the calling one works, 0: in none; what ClaimSlot gives its slot.
extern constinit thread_local std::uint32_t thread_works_for;

// A kLive slot for the calling thread, or nullptr when all are taken.
ThreadSlot* ClaimSlot(const RingMap& ring);

// The owner gives its segment up: to be drained, nothing will be added.
void LeaveSegment(const RingMap& ring, ThreadSlot* slot);
// The owner starts on a segment that it took from the pool.
void EnterSegment(const RingMap& ring, ThreadSlot* slot, std::uint32_t segment);

// Reader: frees the slot if its thread is gone and all its segments are back.
void ReleaseSlotIfDone(const RingMap& ring, std::uint32_t slot);

// Destructor of the thread-exit key. Harmless in a forked child and after RingClose.
void OnThreadExit(void* slot);

}  // namespace memoir

#endif  // INTERPOSE_THREAD_SLOTS_H_
