// The uses of blocks that a module's call makes: which operators read them in forward, and which saved them for
// backward, inside of the call or outside of it.
#ifndef TOOLS_ANALYZE_CHECKPOINTING_BLOCK_USES_H_
#define TOOLS_ANALYZE_CHECKPOINTING_BLOCK_USES_H_

#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "tools/analyze/categories/by_ordinal.h"
#include "tools/analyze/checkpointing/call_tree.h"
#include "tools/model/capture.h"

namespace memoir {

// Depths are those of the innermost call that both the block and who uses it are in.
struct BlockUse {
  static constexpr std::uint8_t kNever = 0xff;
  std::uint8_t saved_outermost = kNever;  // of the forward operators whose nodes read it
  std::uint8_t saved_innermost = 0;
  std::uint8_t read_outermost = kNever;  // by operators of forward
  bool freed_in_backward = false;
  bool freed_in_forward = false;  // before the outermost call that it was made in returned
  std::uint32_t reads = 0;        // by operators of forward

  // Whether checkpointing the call at `depth`, in which it is made, keeps it all the same: an operator outside saved
  // it. Where no node is seen to read it (compiled code), who reads it in forward is taken to have saved it.
  bool Leaves(std::uint32_t depth) const {
    return (saved_outermost != kNever ? saved_outermost : read_outermost) < depth;
  }
  bool IsSavedInside(std::uint32_t depth) const { return saved_innermost >= depth; }
  bool operator==(const BlockUse&) const = default;
};

struct BlockUses {
  ByOrdinal<BlockUse, BlockUse{}> blocks;

  BlockUse Of(const Block& block) const { return blocks.Of(block.ordinal); }
};

// In which call the forward operator of a node of autograd ran. Holds the newest 2^20 sequence numbers of each thread.
class ForwardCalls {
 public:
  void Note(std::uint64_t torch_thread, std::int64_t sequence, CallNumber call) {
    calls_[{torch_thread, sequence & kMask}] = {sequence, call};
  }
  // False: not known.
  bool Find(const OpenRange& node, CallNumber* call) const;
  void Clear() { calls_.clear(); }

 private:
  static constexpr std::int64_t kMask = (1 << 20) - 1;
  absl::flat_hash_map<std::pair<std::uint64_t, std::int64_t>, std::pair<std::int64_t, CallNumber>> calls_;
};

// Ordinals and calls are those of a replay with the same rank.
absl::StatusOr<BlockUses> FindBlockUses(const Capture& capture, ReplayOptions options);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CHECKPOINTING_BLOCK_USES_H_
