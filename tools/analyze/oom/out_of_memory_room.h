// The free memory when a request failed, and why the request could not use it: fragmentation, a limit, another pool, or
// too little free memory.
#ifndef TOOLS_ANALYZE_OOM_OUT_OF_MEMORY_ROOM_H_
#define TOOLS_ANALYZE_OOM_OUT_OF_MEMORY_ROOM_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analyze/grouping/holdings.h"
#include "tools/analyze/segments/segment_map.h"
#include "tools/model/capture.h"

namespace memoir {

enum class OutOfMemoryCause : std::uint8_t {
  // A real share (IsRealShare) of reserved memory is free in segments that the request can use. This share and the
  // device's free memory together would suffice, but no free piece is large enough.
  kFragmentation,
  kLimit,  // the device had enough free memory, but a memory fraction did not allow torch to reserve it
  // A real share of reserved memory is free in other pools, streams or sizes. Together with the device's free memory,
  // this share would suffice.
  kOtherPools,
  kTooLarge,  // the request is larger than the reserved and the free memory of the device together
  kRefused,   // the driver or a library refused the request although enough memory may have been free
  kFull,      // too little memory is free, because the memory is in use
};
std::string_view ToString(OutOfMemoryCause cause);  // "fragmentation", "limit", "other_pools", ...

// Returns true if `bytes` that a request cannot use are enough to explain an out-of-memory error: at least a twentieth
// of the `reserved` bytes. Smaller holes are normal in programs that allocate blocks of several sizes.
bool IsRealShare(std::uint64_t bytes, std::uint64_t reserved);

// Free memory is reserved memory outside of all blocks; a hole is one contiguous piece of it. A request can use only
// segments of the same pool, stream and size (small or large).
struct OutOfMemoryRoom {
  PoolId pool;  // pool of the request
  std::uint64_t stream = 0;
  bool small = false;                // the request is for up to 1 MiB
  std::uint64_t needed_segment = 0;  // bytes that torch would have had to reserve for the request
  std::uint64_t free = 0;            // free in all segments; the sum of the next four fields
  std::uint64_t own_free = 0;        // free in segments that the request can use
  std::uint64_t other_stream_free = 0;
  std::uint64_t other_size_free = 0;  // free in the small pool for a large request, or vice versa
  std::uint64_t other_pool_free = 0;
  std::uint64_t own_holes = 0;     // number of holes in own_free
  std::uint64_t largest_hole = 0;  // bytes of the largest hole in own_free
  std::uint64_t waiting = 0;  // bytes of blocks that the program freed, and that a stream may still use (record_stream)
  std::uint64_t private_reserved = 0;   // reserved bytes of private pools
  std::uint64_t private_allocated = 0;  // allocated bytes in private pools
  // Live blocks between the holes of own_free, by operator and module, most bytes first.
  std::vector<HoldingRow> pinned_by;
  OutOfMemoryCause cause = OutOfMemoryCause::kFull;
};

// Call it when the replay is at the error. `asked`: the requested block. `limit`: the most bytes that torch may
// reserve; nullopt if unknown. If `limit` is nullopt, the driver has enough free memory, and the cause is not
// kFragmentation, the cause is kLimit, because only a limit explains the error.
OutOfMemoryRoom OutOfMemoryRoomFor(const ReplayState& state, const Block& asked, std::uint64_t device_free,
                                   std::optional<std::uint64_t> limit);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_OOM_OUT_OF_MEMORY_ROOM_H_
