#include "tools/analyze/live/live_figures.h"

#include <algorithm>

namespace memoir {

const char* ToString(LiveState state) {
  switch (state) {
    case LiveState::kRuns:
      return "running";
    case LiveState::kSilent:
      return "silent";
    case LiveState::kEnded:
      return "ended";
    case LiveState::kDied:
      return "died";
    case LiveState::kFileGone:
      return "removed";
  }
  return "";
}

// The headroom is the memory that is free now. A step uses some of it to reach its peak. Only the remaining memory is
// left for growth.
void Foresee(double step_seconds, LiveMemory& device) {
  if (!device.growth || !device.headroom || device.growth->bytes_per_step <= 0) return;
  const std::uint64_t peak = std::max(device.step_peak, device.allocated);
  const std::uint64_t room = *device.headroom - std::min(*device.headroom, peak - device.allocated);
  device.steps_left = static_cast<double>(room) / device.growth->bytes_per_step;
  if (step_seconds > 0) device.seconds_left = *device.steps_left * step_seconds;
}

}  // namespace memoir
