#include "tools/analyze/checkpointing/followed_blocks.h"

#include <algorithm>

namespace memoir {

std::vector<FollowedBlocks::RuleTraits> FollowedBlocks::TraitsOfRules() {
  std::vector<RuleTraits> traits;
  for (const Rule& rule : Rules()) {
    const bool activation = rule.kept == Category::kActivation;
    const bool cast = rule.name == "cast_parameter";
    const bool passes = activation || rule.kept == Category::kTemporary || rule.kept == Category::kInput;
    traits.push_back({activation, cast, passes && !cast, rule.name == "workspace"});
  }
  return traits;
}

FollowedBlock& FollowedBlocks::Follow(const AllocateEvent& event) {
  const Block& block = *event.block;
  if (block.slot >= followed_.size()) followed_.resize(block.slot + 1);
  FollowedBlock& followed = followed_[block.slot];
  followed.inputs_of.clear();
  const RuleTraits traits = traits_[categories_.RuleOf(block)];
  const bool forward = block.phase == Phase::kForward && event.stack != nullptr;
  const BlockUse use = uses_.UseOf(block);
  followed.ordinal = block.ordinal;
  followed.call = forward ? tree_.InnermostCall(event.thread) : 0;
  // Autocast also holds the copies that it makes of parameters. A copy counts only if backward frees it, because this
  // shows that only the graph held the copy.
  followed.activation = traits.activation && followed.call != 0 && (!traits.cast || use.freed_in_backward);
  followed.may_be_input = traits.may_be_input;
  followed.reads = use.reads;
  followed.settled = false;
  followed.cast = traits.cast;
  followed.device = block.device;
  followed.bytes = block.bytes;
  followed.freed_in_backward = use.freed_in_backward;
  followed.leaves = followed.saved_in = 0;
  for (std::uint32_t depth = 1; depth <= std::min(tree_[followed.call].depth, FollowedBlock::kMostDepth); ++depth) {
    if (use.Leaves(depth)) followed.leaves |= FollowedBlock::Bit(depth);
    if (use.IsSavedInside(depth)) followed.saved_in |= FollowedBlock::Bit(depth);
  }
  const std::uint32_t holder = traits.cast ? 1 : use.read_outermost;
  followed.holder = tree_.AtDepth(followed.call, std::min(holder, tree_[followed.call].depth));
  return followed;
}

}  // namespace memoir
