// Allocated, kept and peak memory in bytes: totals for each device, and rows by operator or another grouping. Computed
// in one pass.
//
// For every column, the rows sum exactly to the device's total. All rows are present; views may hide small ones.
#ifndef TOOLS_ANALYZE_SUMMARY_SUMMARY_H_
#define TOOLS_ANALYZE_SUMMARY_SUMMARY_H_

#include "absl/status/statusor.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/analyze/summary/figures/summary_figures.h"
#include "tools/model/capture.h"

namespace memoir {

struct SummaryOptions : Selection {
  GroupBy by = GroupBy::kOperator;
  bool checkpointing = true;  // kCategory: also estimate the effect of checkpointing, which doubles the time
  bool endings = false;       // find Summary::endings; replays the capture again if a process failed
};

// NotFound: the window does not occur (the message names the nearest range), or the device or rank does not exist.
absl::StatusOr<Summary> AnalyzeSummary(const Capture& capture, const SummaryOptions& options);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_SUMMARY_H_
