// The part of the evidence that comes late: that what an operator computed is differentiable shows when autograd runs
// its node, and then the blocks may have ended.
#include <algorithm>

#include "tools/analyze/rules/evidence_pass.h"

namespace memoir {

// What the forward operator of this node has computed is differentiable.
void EvidencePass::NoteNode(const OpenRange& node) {
  ++nodes_;
  const auto computed = computed_.find({node.forward_thread, node.sequence});
  if (computed == computed_.end()) return;
  for (const std::uint32_t slot : computed->second.slots) watched_[slot].evidence.Note(Sign::kDifferentiable);
  for (auto& [ordinal, evidence] : computed->second.ended) {
    evidence.Note(Sign::kDifferentiable);
    rules_[ordinal] = RuleFor(evidence);
  }
  ended_ -= computed->second.ended.size();
  computed->second.ended.clear();
  if (computed->second.slots.empty()) computed_.erase(computed);
}

// Autograd mostly gives back what an operator computed before it runs that operator's node.
void EvidencePass::LeaveComputed(const Block& block, const Watched& watched) {
  const auto found = computed_.find(watched.computed_by);
  if (found == computed_.end() || found->second.call != watched.computed_call) return;
  Computed& computed = found->second;
  if (const auto slot = std::ranges::find(computed.slots, block.slot); slot != computed.slots.end()) {
    *slot = computed.slots.back();
    computed.slots.pop_back();
  }
  Evidence differentiable = watched.evidence;
  differentiable.Note(Sign::kDifferentiable);
  if (RuleFor(differentiable) != rules_[watched.ordinal]) {
    if (computed.ended.empty()) ended_first_.emplace_back(watched.computed_by, computed.call);
    computed.ended.emplace_back(watched.ordinal, watched.evidence);
    ++ended_;
    if (ended_ > kMostEnded || ended_first_.size() > 2 * kMostEnded) ForgetOldest();
  } else if (computed.slots.empty() && computed.ended.empty()) {
    computed_.erase(found);
  }
}

// Graphs that were dropped: their numbers never come again.
void EvidencePass::ForgetOldest() {
  std::erase_if(ended_first_, [&](const auto& step_and_call) {
    const auto found = computed_.find(step_and_call.first);
    return found == computed_.end() || found->second.call != step_and_call.second || found->second.ended.empty();
  });
  while (ended_ > kMostEnded / 2) {
    const auto found = computed_.find(ended_first_.front().first);
    ended_first_.pop_front();
    ended_ -= found->second.ended.size();
    found->second.ended.clear();
    if (found->second.slots.empty()) computed_.erase(found);
  }
}

}  // namespace memoir
