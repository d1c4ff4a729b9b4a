// Finds the categories of a capture's blocks from the evidence in one replay.
#ifndef TOOLS_ANALYZE_CATEGORIES_EVIDENCE_CATEGORIZATION_H_
#define TOOLS_ANALYZE_CATEGORIES_EVIDENCE_CATEGORIZATION_H_

#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "tools/analyze/categories/block_categories.h"
#include "tools/analyze/pass/joint_replays.h"
#include "tools/analyze/pass/task.h"
#include "tools/model/capture.h"

namespace memoir {

using KnownCategories = std::shared_ptr<const BlockCategories>;

// The categories for the analyses of one answer. They are found once, in the first replay after an analysis has called
// Find(). The categories cover the whole recording, because the evidence about a selected block may lie outside of the
// selection. Ordinals of blocks are equal in all replays of the same rank, so the result is valid in these replays.
class SharedCategories {
 public:
  explicit SharedCategories(JointReplays& replays) : replays_(replays) {}
  SharedCategories(const SharedCategories&) = delete;
  SharedCategories& operator=(const SharedCategories&) = delete;

  JointReplays& replays() const { return replays_; }
  const Capture& capture() const { return replays_.capture(); }
  // Starts the search at the first call. `co_await Find()` waits for the result, which is never nullptr.
  const Task<absl::StatusOr<KnownCategories>>& Find();
  bool is_wanted() const { return categories_.has_value(); }

 private:
  JointReplays& replays_;
  std::optional<Task<absl::StatusOr<KnownCategories>>> categories_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_EVIDENCE_CATEGORIZATION_H_
