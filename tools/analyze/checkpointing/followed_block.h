// A live block, and the effect of checkpointing on it.
//
// The stages of a block, for each call in which it was made:
//
//     made ──► settled ──► backward reads it ──► freed
//                 └─ counts as freed ─┘
//
// A block is settled when forward has read it for the last time and the call that holds it has returned. When backward
// reads a block of a call, all blocks of this call are recomputed.
//
// A block leaves a call if an operator outside of the call saved it, or if another call of the same CheckpointRow
// receives it as an input. Checkpointing of the call does not free such a block.
#ifndef TOOLS_ANALYZE_CHECKPOINTING_FOLLOWED_BLOCK_H_
#define TOOLS_ANALYZE_CHECKPOINTING_FOLLOWED_BLOCK_H_

#include <cstdint>
#include <vector>

#include "tools/analyze/checkpointing/call_tree.h"
#include "tools/model/event/event.h"

namespace memoir {

struct FollowedBlock {
  static constexpr std::uint64_t kNoOrdinal = ~std::uint64_t{0};  // the block was freed
  std::uint64_t ordinal = kNoOrdinal;
  CallNumber call = 0;        // innermost call that made it in forward
  bool activation = false;    // an activation that a module call made
  bool cast = false;          // a copy of a parameter, made in forward (autocast)
  bool may_be_input = false;  // counts as an input of calls that read it; false if it lives as long as the model
  bool settled = false;       // forward does not read the block any more, and the call `holder` has returned
  CallNumber holder = 0;      // innermost call that contains all readers of the block; its frame may hold the block
  DeviceId device;
  std::uint64_t bytes = 0;
  std::uint32_t reads = 0;     // number of reads in forward that are still to come
  std::uint64_t leaves = 0;    // a bit for each depth: the block leaves the call at this depth
  std::uint64_t saved_in = 0;  // a bit for each depth: an operator inside of that call saved the block
  bool freed_in_backward = false;
  std::vector<CallNumber> inputs_of;  // calls that received the block as an input
  bool Leaves(std::uint32_t depth) const { return (leaves & Bit(depth)) != 0; }
  bool IsSavedIn(std::uint32_t depth) const { return (saved_in & Bit(depth)) != 0; }
  // Returns true if the call at `depth` keeps the block live without checkpointing, and its recomputation would make
  // the block again. This is so if the block does not leave the call, or if an operator inside of the call saved it.
  bool Counts(std::uint32_t depth) const { return !Leaves(depth) || IsSavedIn(depth); }
  // Returns true if recomputing the call at `depth` makes the block a second time, and backward frees the first one.
  bool IsReplaced(std::uint32_t depth) const { return Leaves(depth) && IsSavedIn(depth) && freed_in_backward; }
  static constexpr std::uint32_t kMostDepth = 64;  // deeper calls are not followed
  static std::uint64_t Bit(std::uint32_t depth) { return std::uint64_t{1} << (depth - 1); }
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CHECKPOINTING_FOLLOWED_BLOCK_H_
