// In which pool of a CUDA caching allocator a block lies: the default pool, a CUDA graph's or a MemPool's, its part for
// small blocks or for large ones, and its stream. What one of them has free serves requests of the same alone.
#ifndef TOOLS_ANALYZE_GROUPING_POOLS_H_
#define TOOLS_ANALYZE_GROUPING_POOLS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/model/dictionary.h"
#include "tools/model/event.h"

namespace memoir {

class Pools {
 public:
  struct Pool {
    std::uint64_t stream = 0;
    std::uint32_t graph = 0;  // of torch's MempoolId_t; both 0: the default pool
    std::uint32_t user = 0;
    bool small = false;  // the part for blocks of up to 1 MiB
    bool operator==(const Pool&) const = default;
    template <class Hash>
    friend Hash AbslHashValue(Hash hash, const Pool& pool) {
      return Hash::combine(std::move(hash), pool.stream, pool.graph, pool.user, pool.small);
    }
  };

  // Whether a caching allocator has the block, so that it lies in a pool.
  static bool HasPool(const Block& block, const Dictionary& dictionary) {
    return dictionary.device(block.device).type == "cuda";
  }
  // Small numbers, from 0, as pools are met; they are the same for all devices.
  std::uint32_t NumberOf(const Block& block);
  // "default pool, over 1 MiB" (of torch's pool for large blocks), "graph pool (1, 0), up to 1 MiB, stream 0x7f12".
  std::string LabelOf(std::uint32_t number) const;

 private:
  absl::flat_hash_map<Pool, std::uint32_t> numbers_;
  std::vector<Pool> pools_;  // by number
  std::uint32_t last_ = 0;   // mostly that of the next block
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_GROUPING_POOLS_H_
