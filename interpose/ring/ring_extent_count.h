// Counts the ring extents that threads have begun to fill.
#ifndef INTERPOSE_RING_RING_EXTENT_COUNT_H_
#define INTERPOSE_RING_RING_EXTENT_COUNT_H_

#include <cstdint>

#include "interpose/system/export.h"

namespace memoir {

// Returns the number of ring extents that threads have begun while ranges were recorded, in all rings of this process.
// May be called on any thread. The count costs nothing per record: it increases only when a thread takes an extent.
MEMOIR_INTERPOSE_API std::uint64_t RingExtentsWithRanges();

}  // namespace memoir

#endif  // INTERPOSE_RING_RING_EXTENT_COUNT_H_
