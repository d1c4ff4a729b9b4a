// The pool of segments: producers take, the reader gives back. Lock-free; a stack by index with a change count
// against ABA.
//
// When less than half is free the reader is woken; when none is, a producer that may waits (bounded) until one comes
// back.
#ifndef INTERPOSE_SEGMENT_POOL_H_
#define INTERPOSE_SEGMENT_POOL_H_

#include <cstdint>

#include "interpose/ring_layout.h"

namespace memoir {

// The longest that a producer waits for a segment, unless the recording says otherwise (RingState::max_wait_ns).
constexpr std::uint64_t kMaxWaitNs = 5'000'000'000;

// Fills the pool of a new ring.
void InitPool(const RingMap& ring);

// A free segment's number or kNoSegment. Its header is still that of a free one.
std::uint32_t TakeSegment(const RingMap& ring, OnEmptyPool on_empty);

// The segment's state must already be kFree.
void GiveSegmentBack(const RingMap& ring, std::uint32_t segment);

// Ends all waits in TakeSegment, successful or not.
void WakeProducers(const RingMap& ring);
void WakeReader(const RingMap& ring);

}  // namespace memoir

#endif  // INTERPOSE_SEGMENT_POOL_H_
