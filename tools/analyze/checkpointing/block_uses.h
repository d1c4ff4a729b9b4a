// Finds the uses of blocks that were made in module calls: which operators read a block in forward, and which operators
// saved it for backward. Distinguishes operators inside and outside of the call that made the block.
#ifndef TOOLS_ANALYZE_CHECKPOINTING_BLOCK_USES_H_
#define TOOLS_ANALYZE_CHECKPOINTING_BLOCK_USES_H_

#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "tools/analyze/categories/ordinal_table.h"
#include "tools/analyze/checkpointing/call_tree.h"
#include "tools/analyze/pass/joint_replays.h"
#include "tools/analyze/pass/task.h"
#include "tools/model/capture.h"

namespace memoir {

// The uses of one block. The depth of a use is the depth of the innermost call that contains both the allocation of the
// block and the use.
struct BlockUse {
  static constexpr std::uint8_t kNever = 0xff;
  std::uint8_t saved_outermost = kNever;  // smallest depth of a forward operator whose autograd node reads the block
  std::uint8_t saved_innermost = 0;       // largest depth of such an operator
  std::uint8_t read_outermost = kNever;   // smallest depth of a forward operator that reads the block
  bool freed_in_backward = false;
  bool freed_in_forward = false;  // freed while a module call ran on the thread that allocated the block
  std::uint32_t reads = 0;        // number of forward operators that read the block

  // `depth`: the depth of a call in which the block was made. Returns true if the block stays live although this call
  // is checkpointed, because an operator outside of the call saved the block. If no recorded autograd node reads the
  // block (compiled code), all forward operators that read it are assumed to have saved it.
  bool Leaves(std::uint32_t depth) const {
    return (saved_outermost != kNever ? saved_outermost : read_outermost) < depth;
  }
  // Returns true if an operator inside of the call at `depth` saved the block.
  bool IsSavedInside(std::uint32_t depth) const { return saved_innermost >= depth; }
  bool operator==(const BlockUse&) const = default;
};

struct BlockUses {
  OrdinalTable<BlockUse, BlockUse{}> blocks;

  BlockUse UseOf(const Block& block) const { return blocks.At(block.ordinal); }
};

// Maps an autograd node to the module call in which its forward operator ran. Stores the newest 2^20 sequence numbers
// of each thread.
class ForwardCalls {
 public:
  void Note(std::uint64_t torch_thread, std::int64_t sequence, CallNumber call) {
    calls_[{torch_thread, sequence & kMask}] = {sequence, call};
  }
  // Returns false if the call is unknown.
  bool Find(const OpenRange& node, CallNumber* call) const;
  void Clear() { calls_.clear(); }

 private:
  static constexpr std::int64_t kMask = (1 << 20) - 1;
  absl::flat_hash_map<std::pair<std::uint64_t, std::int64_t>, std::pair<std::int64_t, CallNumber>> calls_;
};

// Needs one replay. The uses are valid in later replays of the same rank, because in each of them blocks have the same
// ordinals and calls have the same numbers.
Task<absl::StatusOr<BlockUses>> FindBlockUses(JointReplays& replays);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CHECKPOINTING_BLOCK_USES_H_
