// Visits every block of a selection, with its life and category: one process after another, and within a process in the
// order in which the blocks are freed. Blocks that are live at the end of their process come after its freed blocks.
#ifndef TOOLS_ANALYZE_LIVES_BLOCK_LIVES_H_
#define TOOLS_ANALYZE_LIVES_BLOCK_LIVES_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "absl/status/statusor.h"
#include "tools/analyze/categories/block_categories.h"
#include "tools/analyze/pass/joint_replays.h"
#include "tools/analyze/pass/task.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/model/capture.h"

namespace memoir {

struct BlockLife {
  const Block* block = nullptr;
  ProcessId process;
  std::uint64_t allocated_ns = 0;
  std::optional<std::uint64_t> freed_ns;     // empty: not freed until the end of the process
  RuleNumber rule = 0;                       // the rule that determines the category (categories/rules.h)
  ParameterNumber parameter = kNoParameter;  // the parameter whose values, gradient or state the block contains
};

// Called for each block that was live at any time within the selection. The arguments are valid only during the call.
using BlockLifeVisitor = std::function<void(const BlockLife&, const ReplayState&)>;
// Calls `show` for each block, in one replay. `categories` must outlive the task.
Task<absl::StatusOr<ReplayReport>> ForEachBlockLife(JointReplays& replays, Selection selection,
                                                    const BlockCategories& categories, BlockLifeVisitor show);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_LIVES_BLOCK_LIVES_H_
