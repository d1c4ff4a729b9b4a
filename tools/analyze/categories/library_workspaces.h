// Finds the blocks of the rule `workspace`, without collecting the evidence for the other rules. Summaries need only
// these blocks; finding the categories of all blocks would take several times as long.
#ifndef TOOLS_ANALYZE_CATEGORIES_LIBRARY_WORKSPACES_H_
#define TOOLS_ANALYZE_CATEGORIES_LIBRARY_WORKSPACES_H_

#include <cstdint>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "tools/analyze/categories/rules.h"
#include "tools/model/capture.h"

namespace memoir {

// Ordinals of blocks on devices with a caching allocator; on other devices torch provides no workspaces for libraries.
using LibraryWorkspaces = absl::flat_hash_set<std::uint64_t>;

// Searches the whole recording, as CategorizeBlocks does, but does not find expected workspaces
// (BlockCategories::IsExpected). Needs one replay, and stores only live blocks that no recorded tensor has used yet.
absl::StatusOr<LibraryWorkspaces> FindLibraryWorkspaces(const Capture& capture, ReplayOptions options);

// Returns true if the rule is `workspace`.
inline bool IsOfLibrary(RuleNumber rule) { return Rules()[rule].holder == HolderKind::kLibrary; }

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_LIBRARY_WORKSPACES_H_
