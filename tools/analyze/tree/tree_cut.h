// Cuts a merged tree to the part that RangeTreeOptions selects: by depth, by number of children, by share of the bytes,
// and by a pattern.
#ifndef TOOLS_ANALYZE_TREE_TREE_CUT_H_
#define TOOLS_ANALYZE_TREE_TREE_CUT_H_

#include "tools/analyze/tree/merged_tree.h"
#include "tools/analyze/tree/range_tree.h"
#include "tools/model/capture.h"

namespace memoir {

// Returns the nodes and their figures. RangeTree::report is empty.
RangeTree CutTree(const MergedTree& merged, const ReplayState& state, const RangeTreeOptions& options);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_TREE_TREE_CUT_H_
