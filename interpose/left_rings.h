// Rings that were closed, whose addresses threads may still hold: between a reserve and its commit, and in
// memoir_thread_slot. A thread leaves a ring when it takes a slot in another one, or ends, and says so in its slot.
//
//     RingClose ──► kept ──► RingOpen: have all threads left? ──► unmapped, with what the slots' scratch leads to
//
// For the thread that opens and closes rings, but for LeaveRing.
#ifndef INTERPOSE_LEFT_RINGS_H_
#define INTERPOSE_LEFT_RINGS_H_

#include "interpose/ring_layout.h"

namespace memoir {

// The ring's file was left: behind its addresses is memory of this process alone.
void KeepLeftRing(const RingMap& ring);
// Unmaps those that every thread has left.
void UnmapLeftRings();
// In a forked child: whose threads they had are not here to leave.
void ForgetLeftRings();

// The calling thread will touch nothing more of the ring that its slot is in. Not inside a hook that goes on with it.
void LeaveRing();

}  // namespace memoir

#endif  // INTERPOSE_LEFT_RINGS_H_
