#include "tools/analyze/tree/merged_tree.h"

#include <algorithm>
#include <utility>

namespace memoir {

std::uint32_t MergedTree::Child(const NodePlace& place) {
  const std::uint32_t depth = nodes_[place.parent].depth + 1;
  if (depth > kMostDepth) {
    ++too_deep_;
    return place.parent;
  }
  if (const auto known = node_at_.find(place); known != node_at_.end()) return known->second;
  if (nodes_.size() >= kMostNodes) {
    ++too_many_;
    return place.parent;
  }
  const auto next = static_cast<std::uint32_t>(nodes_.size());
  node_at_.emplace(place, next);
  MergedNode node;
  node.place = place;
  node.depth = depth;
  nodes_.push_back(node);
  return next;
}

std::uint32_t MergedTree::Leaf(const LeafPlace& place) {
  if (const auto known = leaf_at_.find(place); known != leaf_at_.end()) return known->second;
  if (leaves_.size() >= 2 * kMostNodes && (place.node != kTreeRoot || place.stream != 0)) {
    LeafPlace at_root = place;
    at_root.node = kTreeRoot;
    at_root.stream = 0;
    return Leaf(at_root);
  }
  const auto next = static_cast<std::uint32_t>(leaves_.size());
  leaf_at_.emplace(place, next);
  MergedLeaf leaf;
  leaf.place = place;
  leaves_.push_back(leaf);
  return next;
}

void MergedTree::Keep(MergedLeaf& leaf) {
  if (const std::uint64_t peaks = HeightOf(leaf.place.device).peaks; leaf.peaks != peaks) {
    leaf.peaks = peaks;
    leaf.at_peak = leaf.live;
  }
  if (leaf.ends != ends_) {
    leaf.ends = ends_;
    leaf.at_end = leaf.live;
  }
}

void MergedTree::Add(std::uint32_t leaf, std::uint64_t bytes) {
  Keep(leaves_[leaf]);
  leaves_[leaf].live += bytes;
  HeightOf(leaves_[leaf].place.device).live += bytes;
}

void MergedTree::Remove(std::uint32_t leaf, std::uint64_t bytes) {
  Keep(leaves_[leaf]);
  leaves_[leaf].live -= bytes;
  HeightOf(leaves_[leaf].place.device).live -= bytes;
}

void MergedTree::NoteHeight(DeviceId device) {
  Height& height = HeightOf(device);
  if (height.live <= height.peak) return;
  height.peak = height.live;
  ++height.peaks;
}

void MergedTree::ConvertTicks(double ns_per_tick) {
  const auto convert = [&](auto& part) { part.ns += static_cast<double>(std::exchange(part.ticks, 0)) * ns_per_tick; };
  std::ranges::for_each(nodes_, convert);
  std::ranges::for_each(leaves_, convert);
}

std::uint64_t MergedTree::AtPeak(const MergedLeaf& leaf) const {
  const std::uint64_t peaks = leaf.place.device.value < heights_.size() ? heights_[leaf.place.device.value].peaks : 0;
  return leaf.peaks == peaks ? leaf.at_peak : leaf.live;
}

}  // namespace memoir
