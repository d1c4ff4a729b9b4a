// Prints live bytes over time, for a GPU also active and reserved bytes and the markers of iterations: as charts of
// block characters, and as JSON.
#ifndef TOOLS_VIEW_TIME_OVER_TIME_VIEW_H_
#define TOOLS_VIEW_TIME_OVER_TIME_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/analyze/time/over_time_curves.h"
#include "tools/model/capture.h"
#include "tools/view/json/json.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// Returns the number of buckets in a chart on this terminal, for OverTimeOptions::buckets.
std::size_t ChartColumns(const Terminal& terminal);

// Returns `rows` lines of one character for each bucket, the top line first, filled in eighths. The peak fills all
// lines. A value above 0 fills at least an eighth. A bucket whose bytes are not known is a dot.
std::vector<std::string> BlockChart(const LevelCurve& level, const std::vector<bool>& known, std::size_t rows);

// Draws allocated, active and reserved bytes in one chart: `rows` lines of whole characters, the darkest for allocated.
std::vector<std::string> LayeredChart(const DeviceCurve& curve, std::size_t rows);

// Returns a letter for each bucket with a marker: F, B, E, O for the markers of MarkersOf in their order, + for
// several.
std::string MarkerLine(const OverTimeCurves& over_time, const DeviceCurve& curve);

std::string RenderOverTime(const Capture& capture, const OverTimeCurves& over_time, const Terminal& terminal);
Json OverTimeJson(const Capture& capture, const OverTimeCurves& over_time);

}  // namespace memoir

#endif  // TOOLS_VIEW_TIME_OVER_TIME_VIEW_H_
