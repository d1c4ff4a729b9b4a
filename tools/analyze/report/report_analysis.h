// Collects the content of `memoir report`.
#ifndef TOOLS_ANALYZE_REPORT_REPORT_ANALYSIS_H_
#define TOOLS_ANALYZE_REPORT_REPORT_ANALYSIS_H_

#include "absl/status/statusor.h"
#include "tools/analyze/categories/evidence/categorization.h"
#include "tools/analyze/pass/task.h"
#include "tools/analyze/report/report_content.h"
#include "tools/model/capture.h"

namespace memoir {

// If a time is selected, all figures cover this time, and blocks that were live when it began count from its begin. If
// blocks are selected, all figures cover these blocks, except for active and reserved bytes, segments and out-of-memory
// errors, which cover the device. Needs two replays, and a third if there are leaks or errors.
Task<absl::StatusOr<ReportContent>> AnalyzeReport(SharedCategories& shared, ReportOptions options);
absl::StatusOr<ReportContent> AnalyzeReport(const Capture& capture, const ReportOptions& options);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_REPORT_REPORT_ANALYSIS_H_
