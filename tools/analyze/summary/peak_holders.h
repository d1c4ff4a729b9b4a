// Who holds the bytes at the peak, asked three ways: what the end of a run is told. One replay for categories, one for
// the three summaries and leaks together; on a GPU one more for libraries' workspaces.
#ifndef TOOLS_ANALYZE_SUMMARY_PEAK_HOLDERS_H_
#define TOOLS_ANALYZE_SUMMARY_PEAK_HOLDERS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/lives/leaks.h"
#include "tools/analyze/summary/summary.h"
#include "tools/model/capture.h"

namespace memoir {

// Each with the same devices. Out-of-memory errors, and then what checkpointing would do, are in `by_category` alone.
struct PeakHolders {
  Summary by_category;
  Summary by_module;
  Summary by_line;
  Leaks leaks;  // without a report of its own
};

absl::StatusOr<PeakHolders> AnalyzePeakHolders(const Capture& capture, const Selection& selection);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_PEAK_HOLDERS_H_
