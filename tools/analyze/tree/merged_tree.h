// A tree of nested ranges and module calls, with their memory events as leaves. All calls with the same name at the
// same place in the tree are one node. So the size of the tree does not grow with the number of calls.
//
// Nodes are numbered by their first occurrence, so a parent comes before its children. [0] is the root.
#ifndef TOOLS_ANALYZE_TREE_MERGED_TREE_H_
#define TOOLS_ANALYZE_TREE_MERGED_TREE_H_

#include <compare>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/analyze/tree/memory_action.h"
#include "tools/analyze/tree/open_nodes.h"
#include "tools/model/event/event.h"

namespace memoir {

inline constexpr std::uint32_t kTreeRoot = 0;

// The identity of a node: its parent, and the facts that distinguish it from its siblings.
struct NodePlace {
  std::uint32_t parent = kTreeRoot;
  bool is_module = false;  // true: a module call; false: a range or a Python call
  CodeId code;             // valid: a call of this Python function
  RangeSource source = RangeSource::kFunction;
  NameId name;                          // name of a range
  ModuleId module;                      // the called module; for an autograd node the module of its forward operator
  std::uint32_t forward = kNoTreeNode;  // for an autograd node: the tree node of its forward operator

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
  std::uint64_t unfinished = 0;  // calls whose end was not recorded
  std::uint64_t ticks = 0;       // of the current process
  double ns = 0;                 // of all processes that have ended
};

// The identity of a leaf: its node, and the facts that distinguish it from other leaves of the node.
struct LeafPlace {
  std::uint32_t node = kTreeRoot;
  MemoryAction action = MemoryAction::kAllocate;
  DeviceId device;
  v1::DriverCall call = v1::DRIVER_CALL_UNKNOWN;  // the call that took a driver allocation
  NameId library;                                 // the library that made this call; for a kernel launch the kernel
  std::uint64_t stream = 0;
  v1::DeviceCall device_call = v1::DEVICE_CALL_UNKNOWN;  // of a CUDA call
  v1::CopyKind copy_kind = v1::COPY_KIND_UNKNOWN;        // of a CUDA call

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
  std::uint64_t ticks = 0;    // spent in CUDA calls of the current process
  double ns = 0;              // the same for all processes that have ended
  std::uint64_t live = 0;     // live bytes now
  std::uint64_t at_peak = 0;  // live bytes at peak number `peaks` of its device
  std::uint64_t at_end = 0;   // live bytes when window number `ends` ended
  std::uint64_t peaks = 0;
  std::uint64_t ends = 0;
};

class MergedTree {
 public:
  static constexpr std::size_t kMostNodes = 1u << 20;  // bounds memory for programs that create names without limit
  static constexpr std::uint32_t kMostDepth = 1000;    // bounds the stack, because nodes are printed by recursion

  MergedTree() : nodes_(1) {}

  // Returns the node of the place. Returns its parent if there are too many nodes or the place is too deep.
  std::uint32_t Child(const NodePlace& place);
  // Returns the leaf of the place. If there are too many leaves, returns a leaf of the root.
  std::uint32_t Leaf(const LeafPlace& place);
  // Add or remove live bytes of a leaf. The bytes at the newest peak and at the newest window end are stored first.
  void Add(std::uint32_t leaf, std::uint64_t bytes);
  void Remove(std::uint32_t leaf, std::uint64_t bytes);
  // Notes the device's live bytes in the selection, which may be a new maximum.
  void NoteHeight(DeviceId device);
  // Notes that a window ends.
  void NoteEnd() { ++ends_; }
  // Converts the ticks of a process that has ended. The clocks of two hosts may have different rates.
  void ConvertTicks(double ns_per_tick);

  // AtPeak returns the leaf's live bytes at the peak of its device. AtEnd returns its live bytes at the end of the
  // newest window.
  std::uint64_t AtPeak(const MergedLeaf& leaf) const;
  std::uint64_t AtEnd(const MergedLeaf& leaf) const { return leaf.ends == ends_ ? leaf.at_end : leaf.live; }

  std::vector<MergedNode>& nodes() { return nodes_; }
  const std::vector<MergedNode>& nodes() const { return nodes_; }
  std::vector<MergedLeaf>& leaves() { return leaves_; }
  const std::vector<MergedLeaf>& leaves() const { return leaves_; }
  // Calls that are counted in their parents, because there are too many nodes.
  std::uint64_t too_many() const { return too_many_; }
  std::uint64_t too_deep() const { return too_deep_; }  // because the place is too deep

 private:
  // The live bytes of a device, their maximum, and how often a new maximum was reached.
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
