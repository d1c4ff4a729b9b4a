// The ranges around each allocation, as a tree of names. The node of each thread's open ranges is cached from one
// allocation to the next, so an allocation needs no walk over its stack.
#ifndef TOOLS_ANALYZE_REPORT_RANGE_PATHS_H_
#define TOOLS_ANALYZE_REPORT_RANGE_PATHS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/model/event/event.h"

namespace memoir {

class RangePaths {
 public:
  // Bounds for programs that create names or nest ranges without limit. An allocation in ranges beyond these bounds
  // counts for the last node that exists on its path.
  static constexpr std::size_t kMostNodes = std::size_t{1} << 15;
  static constexpr std::size_t kMostDepth = 64;
  struct Node {
    NameId name;
    RangeSource source = RangeSource::kFunction;
    std::uint32_t parent = 0;
  };

  RangePaths() { nodes_.emplace_back(); }

  // Returns the node of a thread's open ranges (`stack`). `base`: the ranges of another thread around `stack`.
  std::uint32_t NodeOf(ThreadId thread, const RangeStack& stack, const ReplayState& state, const RangeBase& base);
  // Returns the node of blocks that were allocated before the selection. It has no name.
  std::uint32_t BeforeNode();
  bool IsBefore(std::uint32_t node) const { return node != 0 && node == before_; }
  const std::vector<Node>& nodes() const { return nodes_; }  // [0] is the root

 private:
  struct OpenPath {
    std::uint64_t call;
    std::uint32_t node;
  };
  std::uint32_t Child(std::uint32_t parent, const OpenRange& range);
  std::uint32_t Follow(ThreadId thread, const RangeStack& stack, std::size_t depth, std::uint32_t root);

  std::vector<Node> nodes_;
  std::uint32_t before_ = 0;                                    // 0: not made yet
  absl::flat_hash_map<std::uint64_t, std::uint32_t> children_;  // by parent, name and source
  std::vector<std::vector<OpenPath>> open_;                     // by ThreadId, outermost first
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_REPORT_RANGE_PATHS_H_
