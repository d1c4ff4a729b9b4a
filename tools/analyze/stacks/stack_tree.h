// Who allocates, as the tree of callers: each node is a frame of Python that was called by the one around it, with the
// bytes of all that was made at or under it. A block of backward is under the stack of its forward operator.
//
//     train.py:90 main ──► net.py:12 Net.forward ──► net.py:30 Block.forward
//
// Frames of libraries are no nodes, unless they are asked for: what they made is the own of the frame that called them.
// The same sums can be had of modules and operators.
#ifndef TOOLS_ANALYZE_STACKS_STACK_TREE_H_
#define TOOLS_ANALYZE_STACKS_STACK_TREE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/grouping/source_lines.h"
#include "tools/analyze/pass/options.h"
#include "tools/analyze/stacks/caller_nodes.h"
#include "tools/model/capture.h"

namespace memoir {

struct StackSums {
  std::uint64_t bytes_at_peak = 0;  // of its device; sums over devices are of peaks at different times
  std::uint64_t blocks_at_peak = 0;
  std::uint64_t allocations = 0;
  std::uint64_t allocated_bytes = 0;
  std::uint64_t net_bytes = 0;        // live at the window's end
  std::uint64_t temporary_bytes = 0;  // of allocated_bytes, what was freed before its operator ended
  StackSums& operator+=(const StackSums& other);
  bool operator==(const StackSums&) const = default;
};

struct StackNode : CallerNode {
  StackSums own;                        // made by the frame itself, or by what is no node
  StackSums subtree;                    // at or under it
  std::vector<std::uint32_t> children;  // most bytes at the peak first, then most allocated bytes
};

struct StackTree {
  std::vector<StackNode> nodes;  // parents before their children; [0] is the top, whose subtree is all
  std::vector<SourceLine> frames;
  std::vector<std::string> devices;  // that it is about: all where none has a caching allocator, else those
  bool folded = false;               // parts are gone, and what was allocated in them is not in it
  std::string missing;               // as Summary's
  ReplayReport report;
};

struct StackTreeOptions : Selection {
  enum class Of : std::uint8_t {
    kCallers,
    kPlaces,  // modules and operators (place_nodes.h), for recordings without stacks
  };
  Of of = Of::kCallers;
  bool all_frames = false;  // of callers
};

// NotFound as AnalyzeSummary.
absl::StatusOr<StackTree> AnalyzeStackTree(const Capture& capture, const StackTreeOptions& options);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_STACKS_STACK_TREE_H_
