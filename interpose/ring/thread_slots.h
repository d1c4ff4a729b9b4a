// Thread slots: a thread claims one at its first record, and its exit retires the slot. The reader frees the slot once
// all its ring extents are consumed.
//
//     kFree ──claim──► kClaimed ──filled──► kLive ──thread exit──► kRetired ──all extents consumed───► kFree
//      (any thread)                 (owner)               (owner)                        (reader)
#ifndef INTERPOSE_RING_THREAD_SLOTS_H_
#define INTERPOSE_RING_THREAD_SLOTS_H_

#include <cstdint>

#include "interpose/ring/ring_layout.h"

namespace memoir {

// Number of the thread in whose parallel region the calling thread works; 0 outside of parallel regions. ClaimSlot
// copies it into the slot.
extern constinit thread_local std::uint32_t thread_works_for;

// Returns a kLive slot for the calling thread. nullptr if all slots are in use.
ThreadSlot* ClaimSlot(const RingMap& ring);

// Gives up the owner's extent: the owner adds nothing more, and the reader reads the rest. Called by the owner.
void LeaveExtent(const RingMap& ring, ThreadSlot* slot);
// Makes `segment`, an extent from the pool, the owner's extent. Called by the owner.
void EnterExtent(const RingMap& ring, ThreadSlot* slot, std::uint32_t segment);

// Frees the slot if its thread has ended and all its extents are back in the pool. Called by the reader.
void ReleaseSlotIfDone(const RingMap& ring, std::uint32_t slot);

// Retires the slot. The destructor of RingState::exit_key, so libc calls it when a thread with a slot ends. Safe in a
// forked child and after RingClose.
void OnThreadExit(void* slot);

}  // namespace memoir

#endif  // INTERPOSE_RING_THREAD_SLOTS_H_
