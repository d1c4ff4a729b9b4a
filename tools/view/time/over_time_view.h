// Live bytes over time, of a GPU allocated, active and reserved ones with the markers of iterations: charts of block
// characters, and JSON.
#ifndef TOOLS_VIEW_TIME_OVER_TIME_VIEW_H_
#define TOOLS_VIEW_TIME_OVER_TIME_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/analyze/time/over_time.h"
#include "tools/model/capture.h"
#include "tools/view/json/json.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// How many buckets a chart on this terminal shows: what OverTimeOptions::buckets should be.
std::size_t ChartColumns(const Terminal& terminal);

// `rows` lines of one character per bucket, top line first, filled in eighths; the peak fills all. Anything above 0
// shows at least an eighth, what lies between windows a dot.
std::vector<std::string> BlockChart(const Level& level, const std::vector<bool>& known, std::size_t rows);

// Allocated, active and reserved in one chart: `rows` lines of whole characters, the darkest for allocated.
std::vector<std::string> LayeredChart(const DeviceCurve& curve, std::size_t rows);

// A letter for each bucket that has a marker: F, B, E, O for those of MarkersOf in their order, + for several.
std::string MarkerLine(const OverTime& over_time, const DeviceCurve& curve);

std::string RenderOverTime(const Capture& capture, const OverTime& over_time, const Terminal& terminal);
Json OverTimeJson(const Capture& capture, const OverTime& over_time);

}  // namespace memoir

#endif  // TOOLS_VIEW_TIME_OVER_TIME_VIEW_H_
