// What a CUDA caching allocator has reserved, at one moment of a replay: its segments, the blocks in them, the holes
// between, and how many bytes of them are unusable.
//
// A segment here is what torch.cuda.memory_snapshot() calls one: of an expandable segment each stretch that is mapped.
#ifndef TOOLS_ANALYZE_SEGMENTS_SEGMENT_MAP_H_
#define TOOLS_ANALYZE_SEGMENTS_SEGMENT_MAP_H_

#include <compare>
#include <cstdint>
#include <vector>

#include "tools/model/capture.h"

namespace memoir {

// torch's MempoolId_t: of a CUDA graph (graph, 0), of a torch.cuda.MemPool (0, user).
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
  Block block;            // of one that waits: address and bytes alone
  bool waiting = false;   // given back by the program, not yet by its streams
  bool left_out = false;  // by a choice of blocks
};

struct Segment {
  std::uint64_t address = 0;
  ReservedPiece piece;         // bytes, stream, pool
  std::uint64_t used = 0;      // bytes of its blocks
  std::uint64_t unusable = 0;  // UnusableBytes below
  std::vector<SegmentBlock> blocks;
  std::vector<Hole> holes;
  PoolId pool() const { return {piece.pool_graph, piece.pool_user}; }
  std::uint64_t largest_hole() const;
};

struct SegmentMap {
  std::vector<Segment> segments;  // by address, as what is in them
  std::uint64_t reserved() const;
  std::uint64_t used() const;
  std::uint64_t unusable() const;
};

// Of a device with a caching allocator; of any other there are no segments. Costs a look at every live block.
SegmentMap MapSegments(const ReplayState& state, DeviceId device);

// What can be given back to the device is a page: the whole segment, or of an expandable one what is mapped at a time.
// `begin` and `bytes` are of the piece in which the page is asked for.
struct Pages {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;  // of a page
  bool contiguous = false;  // more of them may follow, and come before
  std::uint64_t end = 0;    // of the piece
};
Pages PagesOf(std::uint64_t address, const ReservedPiece& piece);

// Bytes of the pages that a block at [begin, end) touches and its neighbours do not: the block before ends at
// `before`, the next one begins at `after`. What touches a page keeps it: a hole in it is unusable, in that it cannot
// be given back and serves requests of its own pool and stream that fit alone. Where nothing touches a page, it can be
// given back, except of a private pool, which keeps it as long as it lives.
std::uint64_t TouchedBytes(const Pages& pages, std::uint64_t begin, std::uint64_t end, std::uint64_t before,
                           std::uint64_t after);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SEGMENTS_SEGMENT_MAP_H_
