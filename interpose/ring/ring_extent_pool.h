// The pool of free ring extents: producers take extents, the reader returns them. The pool is a lock-free stack of the
// extents' numbers. The head of the stack contains a count of changes, which prevents the ABA problem.
//
// When less than half of the extents are free, a producer wakes the reader. When all extents are in use, a producer
// with OnEmptyPool::kWait waits for a limited time.
#ifndef INTERPOSE_RING_RING_EXTENT_POOL_H_
#define INTERPOSE_RING_RING_EXTENT_POOL_H_

#include <cstdint>

#include "interpose/ring/ring_layout.h"

namespace memoir {

// Adds `count` extents to the pool, from number `first` on, and wakes all waiting producers. Used for a new ring, and
// for a ring that grows.
void AddExtents(const RingMap& ring, std::uint32_t first, std::uint32_t count);

// Takes a free extent and returns its number. kNoSegment if all extents are in use. The extent's header still marks it
// as free.
std::uint32_t TakeExtent(const RingMap& ring, OnEmptyPool on_empty);

// Returns an extent to the pool. Its state must already be kFree.
void ReturnExtent(const RingMap& ring, std::uint32_t segment);

// Wakes all producers that wait in TakeExtent. Each tries again, and gives up if recording is off.
void WakeProducers(const RingMap& ring);
// Wakes the reader if it sleeps in RingReader::WaitForWork. If not, makes its next WaitForWork return at once.
void WakeReader(const RingMap& ring);

}  // namespace memoir

#endif  // INTERPOSE_RING_RING_EXTENT_POOL_H_
