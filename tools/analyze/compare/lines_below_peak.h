// Finds lines that allocate more or less in B than in A, but not at the device's peak.
#ifndef TOOLS_ANALYZE_COMPARE_LINES_BELOW_PEAK_H_
#define TOOLS_ANALYZE_COMPARE_LINES_BELOW_PEAK_H_

#include <vector>

#include "tools/analyze/compare/matched_parts.h"

namespace memoir {

// Returns the lines and categories whose maximum (line_peaks.h) differs between A and B by more than 1 % of the
// device's peak. Leaves out lines and categories for which the blocks that are live at the peaks show at least half of
// this difference. Largest difference first. `parts`: the blocks that are live at the peaks.
std::vector<LineBelowPeak> LinesBelowPeak(const HeldDevice& a, const HeldDevice& b,
                                          const std::vector<MatchedPart>& parts, const MatchedNames& names);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_COMPARE_LINES_BELOW_PEAK_H_
