// Draws bytes over time, a chart for each device: live bytes, by category if requested; for a GPU also active and
// reserved bytes, and the iterations with their phases below the chart.
#ifndef TOOLS_VIEW_TIME_OVER_TIME_PICTURE_H_
#define TOOLS_VIEW_TIME_OVER_TIME_PICTURE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/analyze/time/over_time_curves.h"
#include "tools/model/capture.h"
#include "tools/view/picture/theme.h"

namespace memoir {

// The value for OverTimeOptions::buckets. A chart has fewer pixels, but it shortens time spans without changes, so the
// other spans need more buckets.
inline constexpr std::size_t kPictureBuckets = 14'400;

// Returns true if a picture shows all devices: all GPUs, or all other devices if there is no GPU.
bool FitsInPicture(const OverTimeCurves& over_time);

// Return the bytes of a file; 1,200 pixels wide. Only GPUs are drawn if there are any. If not all of them fit, three
// are drawn: first the devices of `odd_ranks`, in this order, then the devices with the highest peaks. The picture
// states how many others there are.
std::string OverTimePng(const Capture& capture, const OverTimeCurves& over_time, const Theme& theme = kLight,
                        const std::vector<std::uint32_t>& odd_ranks = {});
std::string OverTimeSvg(const Capture& capture, const OverTimeCurves& over_time, const Theme& theme = kLight,
                        const std::vector<std::uint32_t>& odd_ranks = {});

}  // namespace memoir

#endif  // TOOLS_VIEW_TIME_OVER_TIME_PICTURE_H_
