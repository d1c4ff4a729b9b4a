// The sections of a report's page: for each device curves, compositions, blocks, paths and segments. docs/hacking.md,
// "The file of a report", defines their contents.
#ifndef TOOLS_VIEW_REPORT_REPORT_SECTIONS_H_
#define TOOLS_VIEW_REPORT_REPORT_SECTIONS_H_

#include <cstddef>
#include <string_view>
#include <vector>

#include "tools/analyze/report/report_content.h"
#include "tools/view/report/report_section.h"

namespace memoir {

// A composition over time has curves for at most this many labels, the largest. The bytes of all other labels are the
// difference to the total curve.
inline constexpr std::size_t kMostStackedLabels = 24;

// The page's word for a grouping: the word of --by, or "layers" for modules with merged layers.
std::string_view WordOf(const ReportGrouping& grouping);

// The names of sections are "curve0", "stack0.category", "labels0", "blocks0", "paths0", "places0", "segments0",
// "curve1" ...
std::vector<ReportSection> ReportSections(const ReportContent& report);

// Returns the sections "before-labels0", "before-places0", "before-callers0", "before-peak0" and so on. They describe
// each device of `report` that `before`, the report of another capture, also has: the memory at the peak of this device
// in `before`. `devices` receives the indices of these devices in `report`.
std::vector<ReportSection> BeforeSections(const ReportContent& report, const ReportContent& before,
                                          std::vector<std::size_t>* devices);

}  // namespace memoir

#endif  // TOOLS_VIEW_REPORT_REPORT_SECTIONS_H_
