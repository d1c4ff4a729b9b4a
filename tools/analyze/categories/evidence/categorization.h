// Finds the categories of a capture's blocks from the evidence in one replay.
#ifndef TOOLS_ANALYZE_CATEGORIES_EVIDENCE_CATEGORIZATION_H_
#define TOOLS_ANALYZE_CATEGORIES_EVIDENCE_CATEGORIZATION_H_

#include "absl/status/statusor.h"
#include "tools/analyze/categories/block_categories.h"
#include "tools/model/capture.h"

namespace memoir {

// Categorizes the blocks of the whole recording, whatever the selection, because the evidence about a selected block
// may lie outside of the selection. A replay of the same rank gives the blocks the same ordinals.
absl::StatusOr<BlockCategories> CategorizeBlocks(const Capture& capture, ReplayOptions options);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_EVIDENCE_CATEGORIZATION_H_
