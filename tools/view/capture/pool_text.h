// Names of a CUDA caching allocator's pools and streams, in text and in JSON.
#ifndef TOOLS_VIEW_CAPTURE_POOL_TEXT_H_
#define TOOLS_VIEW_CAPTURE_POOL_TEXT_H_

#include <cstdint>
#include <string>

#include "fmt/format.h"
#include "tools/analyze/segments/segment_map.h"
#include "tools/view/json/json.h"

namespace memoir {

// Returns "the default pool", "graph pool (1, 0)", "MemPool (0, 1)". The numbers are torch's id of the pool.
inline std::string PoolName(PoolId pool) {
  if (!pool.is_private()) return "the default pool";
  return fmt::format("{} ({}, {})", pool.user == 0 ? "graph pool" : "MemPool", pool.graph, pool.user);
}

// [0, 0] is the default pool.
inline Json PoolJson(PoolId pool) { return Json::array({pool.graph, pool.user}); }

// "0x0" is the default stream.
inline std::string StreamName(std::uint64_t stream) { return fmt::format("0x{:x}", stream); }

}  // namespace memoir

#endif  // TOOLS_VIEW_CAPTURE_POOL_TEXT_H_
