// Keeps the memory of closed rings mapped, because threads may still use its addresses: a thread between RingReserve
// and RingCommit, or a thread whose memoir_thread_slot points into the ring. A thread leaves a ring when it claims a
// slot in another ring, or ends; ThreadSlot::left records this.
//
//     RingClose ──► kept ──► RingOpen: have all threads left? ──► unmapped, with the slots' scratch memory
//
// LeaveRing may be called on any thread; the other functions are called on the thread that opens and closes rings.
#ifndef INTERPOSE_RING_CLOSED_RINGS_H_
#define INTERPOSE_RING_CLOSED_RINGS_H_

#include "interpose/ring/ring_layout.h"

namespace memoir {

// Keeps a closed ring mapped until all its threads have left. The caller has already replaced the ring's file at these
// addresses with private memory of this process.
void KeepClosedRing(const RingMap& ring);
// Unmaps the kept rings that every thread has left.
void UnmapClosedRings();
// Forgets the kept rings without unmapping them. For a forked child: the parent's threads do not exist in the child, so
// these threads can never leave a ring there.
void ForgetClosedRings();

// Marks the calling thread's slot as left: the thread will not touch the slot's ring again. Must not be called inside a
// hook that still uses the slot.
void LeaveRing();

}  // namespace memoir

#endif  // INTERPOSE_RING_CLOSED_RINGS_H_
