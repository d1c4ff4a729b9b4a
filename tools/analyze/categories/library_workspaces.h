// Finds the blocks with the rule `workspace`, without collecting the evidence for the other rules. Summaries need only
// these blocks; finding the categories of all blocks would take several times as long.
#ifndef TOOLS_ANALYZE_CATEGORIES_LIBRARY_WORKSPACES_H_
#define TOOLS_ANALYZE_CATEGORIES_LIBRARY_WORKSPACES_H_

#include "absl/status/statusor.h"
#include "tools/analyze/categories/block_categories.h"
#include "tools/analyze/pass/joint_replays.h"
#include "tools/analyze/pass/task.h"

namespace memoir {

// Returns the same blocks as BlockCategories::workspaces, from the whole recording. Needs one replay, and stores only
// live blocks that no recorded tensor has used yet.
Task<absl::StatusOr<LibraryWorkspaces>> FindLibraryWorkspaces(JointReplays& replays);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_LIBRARY_WORKSPACES_H_
