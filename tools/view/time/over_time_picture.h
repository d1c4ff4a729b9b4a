// Bytes over time as a picture, a chart for each device: what is live, by category where those were asked for; of a GPU
// also active and reserved bytes, and under the chart the iterations with their phases.
#ifndef TOOLS_VIEW_TIME_OVER_TIME_PICTURE_H_
#define TOOLS_VIEW_TIME_OVER_TIME_PICTURE_H_

#include <cstddef>
#include <string>

#include "tools/analyze/time/over_time.h"
#include "tools/model/capture.h"
#include "tools/view/picture/theme.h"

namespace memoir {

// What OverTimeOptions::buckets should be: more than a chart has pixels, since stretches without a change are cut
// short.
inline constexpr std::size_t kPictureBuckets = 14'400;

// A file's bytes; 1,200 pixels wide. Where GPUs are among the devices, theirs alone; at most three devices, and it says
// how many others there are.
std::string OverTimePng(const Capture& capture, const OverTime& over_time, const Theme& theme = kLight);
std::string OverTimeSvg(const Capture& capture, const OverTime& over_time, const Theme& theme = kLight);

}  // namespace memoir

#endif  // TOOLS_VIEW_TIME_OVER_TIME_PICTURE_H_
