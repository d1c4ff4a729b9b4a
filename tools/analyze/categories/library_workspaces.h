// The blocks that the rule `workspace` is about, without the evidence that all other rules need: for summaries, which
// are to tell them apart and would wait several times as long for categories.
#ifndef TOOLS_ANALYZE_CATEGORIES_LIBRARY_WORKSPACES_H_
#define TOOLS_ANALYZE_CATEGORIES_LIBRARY_WORKSPACES_H_

#include <cstdint>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "tools/analyze/categories/rules.h"
#include "tools/model/capture.h"

namespace memoir {

// Block::ordinal, of devices with a caching allocator alone: elsewhere torch gives libraries no workspace.
using LibraryWorkspaces = absl::flat_hash_set<std::uint64_t>;

// Of the whole recording, as CategorizeBlocks, but for what is only expected to be one (BlockCategories::IsExpected).
// One pass; it keeps the blocks that no tensor has shown yet.
absl::StatusOr<LibraryWorkspaces> FindLibraryWorkspaces(const Capture& capture, ReplayOptions options);

// Whether the rule is the one about them.
inline bool IsOfLibrary(RuleNumber rule) { return Rules()[rule].keeper == Keeper::kLibrary; }

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_LIBRARY_WORKSPACES_H_
