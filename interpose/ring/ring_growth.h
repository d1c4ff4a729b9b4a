// Puts more ring extents into use when many threads record. Each recording thread holds one extent as long as it lives,
// so many threads would leave few extents for new events.
//
//     header | slots | names | extent headers | extents in use | extents not in use: addresses and a hole in the file
//
// The file has its full size from the start. Extents that are not in use occupy no memory.
#ifndef INTERPOSE_RING_RING_GROWTH_H_
#define INTERPOSE_RING_RING_GROWTH_H_

#include "interpose/ring/ring_layout.h"

namespace memoir {

// Bytes of all extents of a ring that has grown fully: twice the bytes that are needed if every thread slot holds one
// extent.
inline constexpr std::size_t kMostRingBytes = 128u << 20;

// Whether the ring has extents that it may still put into use.
bool MayGrow(const RingMap& ring);

// Puts another 32 MiB of extents into use if threads hold at least half of the extents in use and the ring's folder has
// room for twice 32 MiB. `path`: the ring file. The reader calls this function after each wait. Opens no file.
void GrowIfHeld(const RingMap& ring, const char* path);

}  // namespace memoir

#endif  // INTERPOSE_RING_RING_GROWTH_H_
