// The rows below the chart of a device: steps, iterations and phases of its process.
#ifndef TOOLS_VIEW_TIME_OVER_TIME_BANDS_H_
#define TOOLS_VIEW_TIME_OVER_TIME_BANDS_H_

#include <cstddef>
#include <utility>

#include "tools/analyze/time/over_time_curves.h"
#include "tools/view/picture/theme.h"
#include "tools/view/time/time_scale.h"

namespace memoir {

// Returns true if the curves of the device are known in one of the buckets [first, second).
bool IsKnown(const DeviceCurve& device, std::pair<std::size_t, std::size_t> buckets);

// In pixels; 0 if the process has neither steps nor iterations.
double BandsHeight(const DeviceCurve& device);

struct BandsFrame {
  double left, right, top;  // of the first row, in pixels
  const TimeScale& scale;
};

// Draws a row of numbered steps, where `--steps` accepts each number. If the process has more iterations than steps,
// draws them as a second row, without numbers. The last row has the phases of the iterations. Instead of steps or
// iterations that are too narrow, draws their number. `Page` is Canvas or SvgPage.
template <class Page>
void DrawBands(Page& page, const BandsFrame& frame, const Theme& theme, const DeviceCurve& device);

}  // namespace memoir

#endif  // TOOLS_VIEW_TIME_OVER_TIME_BANDS_H_
