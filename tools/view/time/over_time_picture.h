// Bytes over time as a picture: of a GPU allocated, active and reserved together and each alone, with the markers of
// every iteration, as MemoryTracker.show_traces has them; of other devices what is live.
#ifndef TOOLS_VIEW_TIME_OVER_TIME_PICTURE_H_
#define TOOLS_VIEW_TIME_OVER_TIME_PICTURE_H_

#include <cstddef>
#include <string>

#include "tools/analyze/time/over_time.h"
#include "tools/model/capture.h"

namespace memoir {

// What OverTimeOptions::buckets should be: one for each pixel of a chart's width.
inline constexpr std::size_t kPictureBuckets = 1020;

// A file's bytes; 1,200 pixels wide. Where GPUs are among the devices, theirs alone; at most three devices, and it says
// how many others there are.
std::string OverTimePng(const Capture& capture, const OverTime& over_time);
std::string OverTimeSvg(const Capture& capture, const OverTime& over_time);

}  // namespace memoir

#endif  // TOOLS_VIEW_TIME_OVER_TIME_PICTURE_H_
