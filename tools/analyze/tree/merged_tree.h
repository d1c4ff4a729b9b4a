// A tree in which what has one name in one place is one node: ranges and calls of modules, in each other, and what
// they did to memory as leaves. Its size does not grow with the number of calls.
//
// Nodes are numbered as they are first met, so that a parent stands before its children; [0] is the root.
#ifndef TOOLS_ANALYZE_TREE_MERGED_TREE_H_
#define TOOLS_ANALYZE_TREE_MERGED_TREE_H_

#include <compare>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/analyze/tree/open_nodes.h"
#include "tools/analyze/tree/tree_memory.h"
#include "tools/model/event.h"

namespace memoir {

inline constexpr std::uint32_t kTreeRoot = 0;

// What makes a node this one, among those of its parent.
struct NodePlace {
  std::uint32_t parent = kTreeRoot;
  bool is_module = false;  // a call of one, not a range
  CodeId code;             // valid: a call of a Python function
  RangeSource source = RangeSource::kFunction;
  NameId name;                          // range
  ModuleId module;                      // that is called; of a node of autograd's: of its forward operator
  std::uint32_t forward = kNoTreeNode;  // node of autograd's: its forward operator

  auto operator<=>(const NodePlace&) const = default;
  template <typename H>
  friend H AbslHashValue(H state, const NodePlace& p) {
    return H::combine(std::move(state), p.parent, p.is_module, p.code, p.source, p.name, p.module, p.forward);
  }
};

struct MergedNode {
  NodePlace place;
  std::uint32_t depth = 0;  // 0: the root
  std::uint64_t calls = 0;
  std::uint64_t unfinished = 0;  // of them, whose end was not recorded
  std::uint64_t ticks = 0;
};

struct LeafPlace {
  std::uint32_t node = kTreeRoot;
  MemoryAction action = MemoryAction::kAllocate;
  DeviceId device;
  v1::DriverCall call = v1::DRIVER_CALL_UNKNOWN;  // of driver calls, as the next
  NameId library;                                 // of a launch the kernel
  std::uint64_t stream = 0;
  v1::DeviceCall device_call = v1::DEVICE_CALL_UNKNOWN;  // of calls of CUDA, as the next
  v1::CopyKind copy_kind = v1::COPY_KIND_UNKNOWN;

  auto operator<=>(const LeafPlace&) const = default;
  template <typename H>
  friend H AbslHashValue(H state, const LeafPlace& p) {
    return H::combine(std::move(state), p.node, p.action, p.device, static_cast<int>(p.call), p.library, p.stream,
                      static_cast<int>(p.device_call), static_cast<int>(p.copy_kind));
  }
};

struct MergedLeaf {
  LeafPlace place;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  std::uint64_t ticks = 0;    // in calls of CUDA
  std::uint64_t live = 0;     // now
  std::uint64_t at_peak = 0;  // at peak number `peaks` of its device
  std::uint64_t at_end = 0;   // at end number `ends` of a window
  std::uint64_t peaks = 0;
  std::uint64_t ends = 0;
};

class MergedTree {
 public:
  static constexpr std::size_t kMostNodes = 1u << 20;  // a program that makes up names must not fill memory
  static constexpr std::uint32_t kMostDepth = 1000;    // nodes are shown by recursion

  MergedTree() : nodes_(1) {}

  // Of something that cannot be a node of its own, because there are too many or it lies too deep, its parent.
  std::uint32_t Child(const NodePlace& place);
  // Beyond a bound one of the root's.
  std::uint32_t Leaf(const LeafPlace& place);
  // Bytes come to be, or go, by a leaf: what was live at the newest peak and window's end is kept.
  void Add(std::uint32_t leaf, std::uint64_t bytes);
  void Remove(std::uint32_t leaf, std::uint64_t bytes);
  // What is live on a device now is the most so far, in a window.
  void NoteHeight(DeviceId device);
  void NoteEnd() { ++ends_; }

  std::uint64_t AtPeak(const MergedLeaf& leaf) const;
  std::uint64_t AtEnd(const MergedLeaf& leaf) const { return leaf.ends == ends_ ? leaf.at_end : leaf.live; }

  std::vector<MergedNode>& nodes() { return nodes_; }
  const std::vector<MergedNode>& nodes() const { return nodes_; }
  std::vector<MergedLeaf>& leaves() { return leaves_; }
  const std::vector<MergedLeaf>& leaves() const { return leaves_; }
  std::uint64_t too_many() const { return too_many_; }  // calls that are counted with their parents
  std::uint64_t too_deep() const { return too_deep_; }

 private:
  struct Height {
    std::uint64_t live = 0, peak = 0, peaks = 0;
  };
  Height& HeightOf(DeviceId device) {
    if (device.value >= heights_.size()) heights_.resize(device.value + 1);
    return heights_[device.value];
  }
  void Keep(MergedLeaf& leaf);

  std::vector<MergedNode> nodes_;
  std::vector<MergedLeaf> leaves_;
  absl::flat_hash_map<NodePlace, std::uint32_t> node_at_;
  absl::flat_hash_map<LeafPlace, std::uint32_t> leaf_at_;
  std::vector<Height> heights_;  // by DeviceId
  std::uint64_t ends_ = 0;
  std::uint64_t too_many_ = 0, too_deep_ = 0;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_TREE_MERGED_TREE_H_
