// What was free when a request failed, and why the request could not use it: fragmentation, a limit, another pool, or
// too little.
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
  kFragmentation,  // free and reserved for such requests: enough, but not in one piece
  kLimit,          // the device had enough; a memory fraction forbade torch to take it
  kOtherPools,     // enough is reserved and free, but for other pools, streams or sizes
  kTooLarge,       // more than torch would have had with nothing else in it
  kRefused,        // the driver or a library refused, whatever was free
  kFull,           // what was free everywhere is less than was asked for
};
std::string_view ToString(OutOfMemoryCause cause);  // "fragmentation", "limit", "other_pools", ...

// Free: reserved, and in no block. A request is served from the segments of its pool, its stream and its size alone.
struct Room {
  PoolId pool;  // of the request
  std::uint64_t stream = 0;
  bool small = false;                // up to 1 MiB
  std::uint64_t needed_segment = 0;  // what torch would have had to take from the device for it
  std::uint64_t free = 0;            // everywhere: the next four
  std::uint64_t own_free = 0;        // where the request is served from
  std::uint64_t other_stream_free = 0;
  std::uint64_t other_size_free = 0;  // of the small pool for a large request, or the other way round
  std::uint64_t other_pool_free = 0;
  std::uint64_t own_holes = 0;
  std::uint64_t largest_hole = 0;  // of these
  std::uint64_t waiting = 0;       // given back by the program, but its streams have not come to it: record_stream
  std::uint64_t private_reserved = 0;
  std::uint64_t private_allocated = 0;
  std::vector<Holder> pinned_by;  // live blocks between own holes, by operator and module, most bytes first
  OutOfMemoryCause cause = OutOfMemoryCause::kFull;
};

// `asked`: as OutOfMemoryEvent has it. At that event.
// `limit`: what torch may reserve; where that is not known, a driver that has enough left means that there is one.
Room RoomFor(const ReplayState& state, const Block& asked, std::uint64_t device_free,
             std::optional<std::uint64_t> limit);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_OOM_OUT_OF_MEMORY_ROOM_H_
