#include "tools/analyze/categories/graph_book.h"

#include <algorithm>

namespace memoir {

void GraphBook::Keep(BlockRef block) {
  if (block.slot >= kept_.size()) kept_.resize(block.slot + 1);
  Kept& kept = kept_[block.slot];
  if (kept.ordinal != block.ordinal || kept.nodes == 0) kept = {block.ordinal, 0, 0};
  ++kept.nodes;
  if (block.saved != Saves::kNo) ++kept.keepers;
}

void GraphBook::Release(BlockRef block) {
  if (block.slot >= kept_.size()) return;
  Kept& kept = kept_[block.slot];
  if (kept.ordinal != block.ordinal || kept.nodes == 0) return;
  --kept.nodes;
  if (block.saved != Saves::kNo && kept.keepers > 0) --kept.keepers;
}

// Operators inside each other have one number where the inner one makes the node: the last of them counts.
GraphBook::Node* GraphBook::NodeOf(const Step& step, std::uint64_t call, std::uint64_t place) {
  Node& node = nodes_[step];
  if (node.call > call) return nullptr;
  if (node.call < call) {
    for (const BlockRef& block : node.given) Release(block);
    for (const BlockRef& block : node.computed) Release(block);
    ended_ -= node.ended.size();
    node = {call, place, {}, {}, {}};
  }
  return &node;
}

bool GraphBook::Give(const Step& step, std::uint64_t call, std::uint64_t place, BlockRef block) {
  Node* node = NodeOf(step, call, place);
  if (node == nullptr) return false;
  if (node->given.empty()) {
    given_first_.emplace_back(step, call);
    if (given_first_.size() > kMostNodes) ForgetGiven();
  }
  node->given.push_back(block);
  Keep(block);
  return true;
}

bool GraphBook::Compute(const Step& step, std::uint64_t call, std::uint64_t place, BlockRef block) {
  Node* node = NodeOf(step, call, place);
  if (node == nullptr) return false;
  node->computed.push_back(block);
  Keep(block);
  return true;
}

std::size_t GraphBook::Computed(const Step& step, std::uint64_t call) const {
  const auto found = nodes_.find(step);
  return found == nodes_.end() || found->second.call != call ? 0 : found->second.computed.size();
}

void GraphBook::Settle(const Step& step, std::uint64_t call, const std::vector<BlockRef>& saved) {
  const auto found = nodes_.find(step);
  if (found == nodes_.end() || found->second.call != call) return;
  for (BlockRef& block : found->second.computed) {
    Release(block);
    const auto same = std::ranges::find(saved, block.ordinal, &BlockRef::ordinal);
    block.saved = same == saved.end() ? Saves::kNo : same->saved;
    Keep(block);
  }
}

std::optional<GraphBook::Node> GraphBook::Run(const Step& step) {
  const auto found = nodes_.find(step);
  if (found == nodes_.end()) return std::nullopt;
  Node node = std::move(found->second);
  nodes_.erase(found);
  for (const BlockRef& block : node.given) Release(block);
  for (const BlockRef& block : node.computed) Release(block);
  ended_ -= node.ended.size();
  return node;
}

void GraphBook::Count(const Step& step, bool counts) {
  const auto found = nodes_.find(step);
  if (found == nodes_.end()) return;
  for (const BlockRef& block : found->second.given) {
    if (block.saved == Saves::kNo || KeptOf(block).nodes == 0) continue;
    kept_[block.slot].keepers += counts ? 1 : -1u;
  }
}

void GraphBook::EraseIfEmpty(const Step& step) {
  const auto found = nodes_.find(step);
  if (found == nodes_.end()) return;
  const Node& node = found->second;
  if (node.computed.empty() && node.given.empty() && node.ended.empty()) nodes_.erase(found);
}

// Autograd mostly gives back what an operator computed before it runs that operator's node.
void GraphBook::BlockEnds(const Step& step, std::uint64_t call, BlockRef block, const std::optional<Ended>& otherwise) {
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

// Of graphs that were dropped: their numbers never come again.
void GraphBook::ForgetEnded() {
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

// What a graph that old keeps is taken to be kept for ever.
void GraphBook::ForgetGiven() {
  while (given_first_.size() > kMostNodes / 2) {
    const auto [step, call] = given_first_.front();
    given_first_.pop_front();
    const auto found = nodes_.find(step);
    if (found == nodes_.end() || found->second.call != call) continue;
    found->second.given = {};
    EraseIfEmpty(step);
  }
}

void GraphBook::Clear() { *this = GraphBook(); }

}  // namespace memoir
