// What of a merged tree is shown: so many levels, so many children, or what a pattern finds.
#ifndef TOOLS_ANALYZE_TREE_TREE_CUT_H_
#define TOOLS_ANALYZE_TREE_TREE_CUT_H_

#include "tools/analyze/tree/merged_tree.h"
#include "tools/analyze/tree/range_tree.h"
#include "tools/model/capture.h"

namespace memoir {

// Nodes and their numbers; no report.
RangeTree CutTree(const MergedTree& merged, const ReplayState& state, const RangeTreeOptions& options);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_TREE_TREE_CUT_H_
