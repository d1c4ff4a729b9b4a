// The live blocks of a process. A FollowedBlock contains facts that follow from the category and the uses of its block.
#ifndef TOOLS_ANALYZE_CHECKPOINTING_FOLLOWED_BLOCKS_H_
#define TOOLS_ANALYZE_CHECKPOINTING_FOLLOWED_BLOCKS_H_

#include <cstdint>
#include <vector>

#include "tools/analyze/categories/block_categories.h"
#include "tools/analyze/checkpointing/block_uses.h"
#include "tools/analyze/checkpointing/checkpoint_state.h"
#include "tools/analyze/checkpointing/followed_block.h"

namespace memoir {

class FollowedBlocks {
 public:
  FollowedBlocks(const CheckpointState& shared, const BlockCategories& categories, const BlockUses& uses)
      : tree_(shared.tree), categories_(categories), uses_(uses) {}

  // Begins to follow a block, which must have a slot.
  FollowedBlock& Follow(const AllocateEvent& event);
  // Returns nullptr if the block is not followed. `slot`, `ordinal`: as in Block.
  FollowedBlock* Find(std::uint32_t slot, std::uint64_t ordinal) {
    if (slot >= followed_.size()) return nullptr;
    FollowedBlock& followed = followed_[slot];
    return followed.ordinal == ordinal ? &followed : nullptr;
  }
  FollowedBlock* Find(const Block& block) { return Find(block.slot, block.ordinal); }
  std::uint32_t SlotOf(const FollowedBlock& followed) const {
    return static_cast<std::uint32_t>(&followed - followed_.data());
  }
  // Returns true if a library allocates the block in its first call, and keeps it.
  bool IsKeptWorkspace(const Block& block) const {
    return traits_[categories_.RuleOf(block)].workspace && !uses_.UseOf(block).freed_in_forward;
  }
  void Clear() { followed_.clear(); }

 private:
  struct RuleTraits {
    bool activation, cast, may_be_input, workspace;
  };

  static std::vector<RuleTraits> TraitsOfRules();

  const CallTree& tree_;
  const BlockCategories& categories_;
  const BlockUses& uses_;
  const std::vector<RuleTraits> traits_ = TraitsOfRules();  // by RuleNumber
  std::vector<FollowedBlock> followed_;                     // by Block::slot
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CHECKPOINTING_FOLLOWED_BLOCKS_H_
