// Allocations as a tree of callers. Each node is a Python frame, a child of the frame that called it, with the bytes
// that were allocated in the frame and below. A block of backward belongs to the stack of its forward operator.
//
//     train.py:90 main ──► net.py:12 Net.forward ──► net.py:30 Block.forward
//
// Library frames are not nodes, unless requested: their allocations count for the frame that called them. Alternatively
// the tree consists of modules and operators.
#ifndef TOOLS_ANALYZE_STACKS_STACK_TREE_H_
#define TOOLS_ANALYZE_STACKS_STACK_TREE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/grouping/source_lines.h"
#include "tools/analyze/pass/joint_replays.h"
#include "tools/analyze/pass/task.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/analyze/stacks/caller_nodes.h"
#include "tools/model/capture.h"

namespace memoir {

struct StackSums {
  std::uint64_t bytes_at_peak = 0;  // at the peak of its device; a sum over devices combines peaks at different times
  std::uint64_t blocks_at_peak = 0;
  std::uint64_t allocations = 0;
  std::uint64_t allocated_bytes = 0;
  std::uint64_t net_bytes = 0;        // live at the window's end
  std::uint64_t temporary_bytes = 0;  // part of allocated_bytes: freed before the operator ended
  StackSums& operator+=(const StackSums& other);
  bool operator==(const StackSums&) const = default;
};

struct StackNode : CallerNode {
  StackSums own;                        // blocks allocated by the frame itself, or by called frames without a node
  StackSums subtree;                    // blocks allocated by the node or below it
  std::vector<std::uint32_t> children;  // most bytes at the peak first, then most allocated bytes
};

struct StackTree {
  std::vector<StackNode> nodes;  // a parent comes before its children; [0] is the top, whose subtree is everything
  std::vector<SourceLine> frames;
  std::vector<std::string> devices;  // devices with a caching allocator, else all devices
  bool is_partly_evicted = false;    // parts were evicted, and their allocations are missing
  std::string missing;               // names information about lines that the capture lacks; empty if it is complete
  ReplayReport report;
};

struct StackTreeOptions : Selection {
  enum class Kind : std::uint8_t {
    kCallers,
    kPlaces,  // modules and operators (module_operator_nodes.h), for recordings without stacks
  };
  Kind kind = Kind::kCallers;
  bool all_frames = false;  // include library frames; kCallers only
};

// Returns the same errors as AnalyzeSummary.
Task<absl::StatusOr<StackTree>> AnalyzeStackTree(JointReplays& replays, StackTreeOptions options);
absl::StatusOr<StackTree> AnalyzeStackTree(const Capture& capture, const StackTreeOptions& options);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_STACKS_STACK_TREE_H_
