// Calls a function with every node of a tree, in the order of the nodes' begins. Nodes are ranges, calls of modules,
// calls of Python functions (except for Memoir's package), memory events and CUDA calls.
//
// Replays the recording twice, because a node is shown at its begin with facts that are known only at its end. Needs 32
// bytes of memory for each range and call in the selection; names and events stay in the files.
#ifndef TOOLS_ANALYZE_TREE_TREE_STREAM_H_
#define TOOLS_ANALYZE_TREE_TREE_STREAM_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/joint_replays.h"
#include "tools/analyze/pass/task.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/analyze/tree/streamed_node.h"
#include "tools/model/capture.h"

namespace memoir {

struct TreeStreamOptions : Selection {
  static constexpr std::size_t kMostNodes = std::size_t{1} << 25;
  bool memory = true;               // show memory events
  std::string thread;               // number or name of the only selected thread; empty: all
  DeviceChangeFunction see_change;  // may be empty; called for all threads
  KernelRunFunction see_run;        // may be empty; called inside and outside of the window, for every launch
  MarkFunction see_mark;            // may be empty; called for selected threads
  std::function<bool()> go_on;      // as ReplayOptions::go_on; may be empty
};

// Ranges and calls that are open when the window begins come first, with their own begins. Returns NotFound if the
// selection or the thread does not occur, and ResourceExhausted if there are more than kMostNodes ranges and calls.
Task<absl::StatusOr<ReplayReport>> StreamTree(JointReplays& replays, TreeStreamOptions options, NodeFunction see);
absl::StatusOr<ReplayReport> StreamTree(const Capture& capture, const TreeStreamOptions& options,
                                        const NodeFunction& see);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_TREE_TREE_STREAM_H_
