// How often to repeat an examination that takes processor time.
#ifndef TOOLS_CLI_RANKS_LOOK_PACE_H_
#define TOOLS_CLI_RANKS_LOOK_PACE_H_

#include <algorithm>

namespace memoir {

inline constexpr double kUsualPercent = 2;

// `used`: processor seconds of the last examination; `percent` of one core may be used on average; `every`: the
// shortest interval in seconds.
constexpr double SecondsToNextLook(double used, double percent, double every) {
  return std::max(every, used * 100 / percent);
}

}  // namespace memoir

#endif  // TOOLS_CLI_RANKS_LOOK_PACE_H_
