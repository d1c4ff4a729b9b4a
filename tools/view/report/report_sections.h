// A report as the sections that its page reads: for each device curves, compositions, blocks, paths and segments.
// docs/report.md says what each contains.
#ifndef TOOLS_VIEW_REPORT_REPORT_SECTIONS_H_
#define TOOLS_VIEW_REPORT_REPORT_SECTIONS_H_

#include <cstddef>
#include <string_view>
#include <vector>

#include "tools/analyze/report/report.h"
#include "tools/view/report/section.h"

namespace memoir {

// Of a composition over time: labels that have a curve of their own, the largest; the others are what is missing to the
// curve of all.
inline constexpr std::size_t kMostStackedLabels = 24;

// What the page calls a grouping: the word of --by, "layers" for modules with layers merged.
std::string_view WordOf(const ReportGrouping& grouping);

// "curve0", "stack0.category", "labels0", "blocks0", "paths0", "places0", "segments0", "curve1" ...
std::vector<Section> ReportSections(const Report& report);

// Of another capture what its devices held at their peaks, for those that `report` has, too: "before-labels0",
// "before-places0", "before-callers0". `devices` gets their numbers in `report`.
std::vector<Section> BeforeSections(const Report& report, const Report& before, std::vector<std::size_t>* devices);

}  // namespace memoir

#endif  // TOOLS_VIEW_REPORT_REPORT_SECTIONS_H_
