// The pools of CUDA's caching allocator. A pool is the default pool, a CUDA graph's pool or a MemPool. Each pool is
// divided by stream, and into parts for small and for large blocks. Free memory in one part serves only requests to the
// same part.
#ifndef TOOLS_ANALYZE_GROUPING_POOLS_H_
#define TOOLS_ANALYZE_GROUPING_POOLS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/model/event/dictionary.h"
#include "tools/model/event/event.h"

namespace memoir {

class Pools {
 public:
  // One part of a pool.
  struct Pool {
    std::uint64_t stream = 0;
    std::uint32_t graph = 0;  // `graph` and `user`: torch's MempoolId_t; 0, 0: the default pool
    std::uint32_t user = 0;
    bool small = false;  // the part for blocks of up to 1 MiB
    bool operator==(const Pool&) const = default;
    template <class Hash>
    friend Hash AbslHashValue(Hash hash, const Pool& pool) {
      return Hash::combine(std::move(hash), pool.stream, pool.graph, pool.user, pool.small);
    }
  };

  // Returns true if the block belongs to a caching allocator, and hence lies in a pool.
  static bool HasPool(const Block& block, const Dictionary& dictionary) {
    return dictionary.device(block.device).type == "cuda";
  }
  // Returns the number of the block's part of a pool, from 0, in the order of first use. The same parts on two devices
  // have the same number.
  std::uint32_t NumberOf(const Block& block);
  // Returns "default pool, over 1 MiB" (the part for large blocks), or "graph pool (1, 0), up to 1 MiB, stream 0x7f12".
  std::string LabelOf(std::uint32_t number) const;

 private:
  absl::flat_hash_map<Pool, std::uint32_t> numbers_;
  std::vector<Pool> pools_;  // by number
  std::uint32_t last_ = 0;   // number of the newest block's pool, usually also the next block's
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_GROUPING_POOLS_H_
