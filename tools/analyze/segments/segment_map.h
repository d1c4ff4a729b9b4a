// The state of a CUDA caching allocator at one instant of a replay: its segments, their blocks, the holes between them,
// and the unusable bytes.
//
// Segments are the same as in torch.cuda.memory_snapshot(): each contiguous mapped piece of an expandable segment
// counts as a segment.
#ifndef TOOLS_ANALYZE_SEGMENTS_SEGMENT_MAP_H_
#define TOOLS_ANALYZE_SEGMENTS_SEGMENT_MAP_H_

#include <compare>
#include <cstdint>
#include <vector>

#include "tools/model/capture.h"

namespace memoir {

// torch's MempoolId_t: (graph, 0) for a CUDA graph, (0, user) for a torch.cuda.MemPool.
struct PoolId {
  std::uint32_t graph = 0;
  std::uint32_t user = 0;
  bool is_private() const { return graph != 0 || user != 0; }
  friend auto operator<=>(const PoolId&, const PoolId&) = default;
};

struct Hole {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

struct SegmentBlock {
  Block block;            // if `waiting`, only its address, bytes and device are set
  bool waiting = false;   // the program freed it, and a stream may still use it
  bool left_out = false;  // the selection leaves it out
};

struct MappedSegment {
  std::uint64_t address = 0;
  ReservedPiece piece;         // its bytes, stream and pool
  std::uint64_t used = 0;      // bytes of its blocks
  std::uint64_t unusable = 0;  // see TouchedBytes()
  std::vector<SegmentBlock> blocks;
  std::vector<Hole> holes;
  PoolId pool() const { return {piece.pool_graph, piece.pool_user}; }
  std::uint64_t largest_hole() const;
};

struct SegmentMap {
  std::vector<MappedSegment> segments;  // ordered by address, like their blocks and holes
  std::uint64_t reserved() const;
  std::uint64_t used() const;
  std::uint64_t unusable() const;
};

// Maps a device that has a caching allocator; other devices have no segments. Visits every live block.
SegmentMap MapSegments(const ReplayState& state, DeviceId device);

// The pages of a reserved piece. A page is the smallest unit that can be returned to the device: a whole segment, or
// one mapping of an expandable segment. `begin`: address where the piece begins.
struct Pages {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;  // size of a page
  bool contiguous = false;  // true: part of an expandable segment, may have several pages; false: one page
  std::uint64_t end = 0;    // end of the piece
};
Pages PagesOf(std::uint64_t address, const ReservedPiece& piece);

// Returns the bytes of the pages that a block at [begin, end) touches and its neighbors do not. `before`: address where
// the block below ends. `after`: address where the block above begins. A block keeps every page that it touches. A hole
// in such a page is unusable: the page cannot be returned, and the hole can serve only requests of its pool and stream.
// An untouched page can be returned, except in a private pool, which keeps its pages while it exists.
std::uint64_t TouchedBytes(const Pages& pages, std::uint64_t begin, std::uint64_t end, std::uint64_t before,
                           std::uint64_t after);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SEGMENTS_SEGMENT_MAP_H_
