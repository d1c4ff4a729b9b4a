// Finds the out-of-memory errors of a recording and their causes.
#ifndef TOOLS_ANALYZE_OOM_OUT_OF_MEMORY_ANALYSIS_H_
#define TOOLS_ANALYZE_OOM_OUT_OF_MEMORY_ANALYSIS_H_

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/categories/evidence/categorization.h"
#include "tools/analyze/oom/out_of_memory.h"
#include "tools/analyze/pass/task.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/model/capture.h"

namespace memoir {

// Returns the errors, ordered by process, then by time. If there are more than `most` errors, returns the last `most`
// of this order. Summary::refusals and DeviceRow::num_ooms are a cheaper way to find out whether there are errors.
Task<absl::StatusOr<std::vector<OutOfMemory>>> AnalyzeOutOfMemory(SharedCategories& shared, Selection selection,
                                                                  std::size_t most = kMostOutOfMemory);
absl::StatusOr<std::vector<OutOfMemory>> AnalyzeOutOfMemory(const Capture& capture, const Selection& selection,
                                                            std::size_t most = kMostOutOfMemory);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_OOM_OUT_OF_MEMORY_ANALYSIS_H_
