#include "tools/analyze/categories/autograd_graph_book.h"

#include <algorithm>

namespace memoir {

void AutogradGraphBook::AddHolds(BlockRef block) {
  if (block.slot >= kept_.size()) kept_.resize(block.slot + 1);
  HoldCount& kept = kept_[block.slot];
  if (kept.ordinal != block.ordinal || kept.nodes == 0) kept = {block.ordinal, 0, 0};
  ++kept.nodes;
  if (block.saved != Saving::kNo) ++kept.holders;
}

void AutogradGraphBook::ReleaseHolds(BlockRef block) {
  if (block.slot >= kept_.size()) return;
  HoldCount& kept = kept_[block.slot];
  if (kept.ordinal != block.ordinal || kept.nodes == 0) return;
  --kept.nodes;
  if (block.saved != Saving::kNo && kept.holders > 0) --kept.holders;
}

// Returns the autograd node with the sequence number `step`, which the operator call `call` makes. Nested operators may
// share a number, because only the inner operator makes the node. So a later call replaces an earlier call. nullptr if
// a call later than `call` has this number.
AutogradGraphBook::Node* AutogradGraphBook::NodeOf(const Step& step, std::uint64_t call, std::uint64_t place) {
  Node& node = nodes_[step];
  if (node.call > call) return nullptr;
  if (node.call < call) {
    for (const BlockRef& block : node.given) ReleaseHolds(block);
    for (const BlockRef& block : node.computed) ReleaseHolds(block);
    ended_ -= node.ended.size();
    node = {call, place, {}, {}, {}};
  }
  return &node;
}

bool AutogradGraphBook::AddGiven(const Step& step, std::uint64_t call, std::uint64_t place, BlockRef block) {
  Node* node = NodeOf(step, call, place);
  if (node == nullptr) return false;
  if (node->given.empty()) {
    given_first_.emplace_back(step, call);
    if (given_first_.size() > kMostNodes) ForgetGiven();
  }
  node->given.push_back(block);
  AddHolds(block);
  return true;
}

bool AutogradGraphBook::AddComputed(const Step& step, std::uint64_t call, std::uint64_t place, BlockRef block) {
  Node* node = NodeOf(step, call, place);
  if (node == nullptr) return false;
  node->computed.push_back(block);
  AddHolds(block);
  return true;
}

std::size_t AutogradGraphBook::CountComputed(const Step& step, std::uint64_t call) const {
  const auto found = nodes_.find(step);
  return found == nodes_.end() || found->second.call != call ? 0 : found->second.computed.size();
}

void AutogradGraphBook::SettleSaved(const Step& step, std::uint64_t call, const std::vector<BlockRef>& saved) {
  const auto found = nodes_.find(step);
  if (found == nodes_.end() || found->second.call != call) return;
  for (BlockRef& block : found->second.computed) {
    ReleaseHolds(block);
    const auto same = std::ranges::find(saved, block.ordinal, &BlockRef::ordinal);
    block.saved = same == saved.end() ? Saving::kNo : same->saved;
    AddHolds(block);
  }
}

std::optional<AutogradGraphBook::Node> AutogradGraphBook::RunNode(const Step& step) {
  const auto found = nodes_.find(step);
  if (found == nodes_.end()) return std::nullopt;
  Node node = std::move(found->second);
  nodes_.erase(found);
  for (const BlockRef& block : node.given) ReleaseHolds(block);
  for (const BlockRef& block : node.computed) ReleaseHolds(block);
  ended_ -= node.ended.size();
  return node;
}

void AutogradGraphBook::SetCounts(const Step& step, bool counts) {
  const auto found = nodes_.find(step);
  if (found == nodes_.end()) return;
  for (const BlockRef& block : found->second.given) {
    if (block.saved == Saving::kNo || HoldCountOf(block).nodes == 0) continue;
    kept_[block.slot].holders += counts ? 1 : -1u;
  }
}

void AutogradGraphBook::EraseIfEmpty(const Step& step) {
  const auto found = nodes_.find(step);
  if (found == nodes_.end()) return;
  const Node& node = found->second;
  if (node.computed.empty() && node.given.empty() && node.ended.empty()) nodes_.erase(found);
}

// The results of an operator are usually freed before the operator's node runs: in backward, the nodes that use the
// results run first.
void AutogradGraphBook::EndBlock(const Step& step, std::uint64_t call, BlockRef block,
                                 const std::optional<EndedBlock>& otherwise) {
  const auto found = nodes_.find(step);
  if (found == nodes_.end() || found->second.call != call) return;
  Node& node = found->second;
  if (const auto same = std::ranges::find(node.computed, block.ordinal, &BlockRef::ordinal);
      same != node.computed.end()) {
    *same = node.computed.back();
    node.computed.pop_back();
  }
  if (!otherwise) return EraseIfEmpty(step);
  if (node.ended.empty()) ended_first_.emplace_back(step, node.call);
  node.ended.push_back(*otherwise);
  ++ended_;
  if (ended_ > kMostEnded || ended_first_.size() > 2 * kMostEnded) ForgetEnded();
}

// Forgets the oldest freed blocks. The node of a dropped graph never runs, and its sequence number does not occur
// again, so nothing else removes the blocks of such a node.
void AutogradGraphBook::ForgetEnded() {
  const auto has_ended = [&](const std::pair<Step, std::uint64_t>& one) {
    const auto found = nodes_.find(one.first);
    return found != nodes_.end() && found->second.call == one.second && !found->second.ended.empty();
  };
  std::erase_if(ended_first_, [&](const auto& one) { return !has_ended(one); });
  while (ended_ > kMostEnded / 2) {
    const Step step = ended_first_.front().first;
    ended_first_.pop_front();
    Node& node = nodes_.find(step)->second;
    ended_ -= node.ended.size();
    node.ended.clear();
    EraseIfEmpty(step);
  }
}

// Forgets the arguments of the oldest nodes without releasing them, so these blocks count as kept while they live.
void AutogradGraphBook::ForgetGiven() {
  while (given_first_.size() > kMostNodes / 2) {
    const auto [step, call] = given_first_.front();
    given_first_.pop_front();
    const auto found = nodes_.find(step);
    if (found == nodes_.end() || found->second.call != call) continue;
    found->second.given = {};
    EraseIfEmpty(step);
  }
}

void AutogradGraphBook::Clear() { *this = AutogradGraphBook(); }

}  // namespace memoir
