// How much of the ring threads have filled.
#ifndef INTERPOSE_RING_USE_H_
#define INTERPOSE_RING_USE_H_

#include <cstdint>

#include "interpose/export.h"

namespace memoir {

// Segments (ring.h) that threads have begun while ranges were recorded, in this process, whatever the ring. Any thread.
// Counted where a segment is taken, which is rare: a record costs nothing more.
MEMOIR_INTERPOSE_API std::uint64_t RingSegmentsWithRanges();

}  // namespace memoir

#endif  // INTERPOSE_RING_USE_H_
