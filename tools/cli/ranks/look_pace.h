// How often something that takes processor time at each look may look.
#ifndef TOOLS_CLI_RANKS_LOOK_PACE_H_
#define TOOLS_CLI_RANKS_LOOK_PACE_H_

#include <algorithm>

namespace memoir {

inline constexpr double kUsualPercent = 2;

// `used`: processor seconds of the last look; `percent` of one core on average; `every`: seconds, at least.
constexpr double SecondsToNextLook(double used, double percent, double every) {
  return std::max(every, used * 100 / percent);
}

}  // namespace memoir

#endif  // TOOLS_CLI_RANKS_LOOK_PACE_H_
