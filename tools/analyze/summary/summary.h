// Allocated, net and peak memory in bytes: totals for each device, and rows by operator or another grouping. One pass
// computes all sums. Categories and library workspaces need an earlier replay. The analyses of errors, bad ends and
// checkpointing share these replays if possible (summary_additions.h).
//
// For every column, the rows sum exactly to the device's total. All rows are present; views may hide small ones.
#ifndef TOOLS_ANALYZE_SUMMARY_SUMMARY_H_
#define TOOLS_ANALYZE_SUMMARY_SUMMARY_H_

#include "absl/status/statusor.h"
#include "tools/analyze/categories/evidence/categorization.h"
#include "tools/analyze/pass/task.h"
#include "tools/analyze/summary/figures/summary_figures.h"
#include "tools/analyze/summary/summary_options.h"
#include "tools/model/capture.h"

namespace memoir {

// Returns NotFound if the window does not occur (the message lists existing ranges or steps), or if the device or rank
// does not exist.
Task<absl::StatusOr<Summary>> AnalyzeSummary(SharedCategories& shared, SummaryOptions options);
absl::StatusOr<Summary> AnalyzeSummary(const Capture& capture, const SummaryOptions& options);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_SUMMARY_H_
