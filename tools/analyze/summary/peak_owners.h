// The owners of the bytes at the peak by category, by module and by line, as `memoir run` prints them at its end. Runs
// one replay for categories, one for the three summaries and the leaks, and a third if there are leaks or errors.
#ifndef TOOLS_ANALYZE_SUMMARY_PEAK_OWNERS_H_
#define TOOLS_ANALYZE_SUMMARY_PEAK_OWNERS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/lives/leaks.h"
#include "tools/analyze/summary/copied_parameters.h"
#include "tools/analyze/summary/summary.h"
#include "tools/model/capture.h"

namespace memoir {

// The three summaries have the same devices. Only `by_category` has endings, out-of-memory errors, and, if there is
// such an error, the effect of checkpointing.
struct PeakOwners {
  Summary by_category;
  Summary by_module;
  Summary by_line;
  Leaks leaks;                           // its report is empty
  std::vector<CopiedParameters> copied;  // a row for each device, largest first
};

absl::StatusOr<PeakOwners> AnalyzePeakOwners(const Capture& capture, const Selection& selection);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_PEAK_OWNERS_H_
