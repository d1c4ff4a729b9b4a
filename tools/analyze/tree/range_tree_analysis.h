// Replays a recording, merges its ranges, calls and memory events into a RangeTree, and cuts the tree to the part that
// is shown.
#ifndef TOOLS_ANALYZE_TREE_RANGE_TREE_ANALYSIS_H_
#define TOOLS_ANALYZE_TREE_RANGE_TREE_ANALYSIS_H_

#include "absl/status/statusor.h"
#include "tools/analyze/tree/range_tree.h"
#include "tools/model/capture.h"

namespace memoir {

// Returns NotFound if the selection or the thread does not occur.
absl::StatusOr<RangeTree> AnalyzeRangeTree(const Capture& capture, const RangeTreeOptions& options);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_TREE_RANGE_TREE_ANALYSIS_H_
