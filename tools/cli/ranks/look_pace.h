// Computes how often a folder is examined again, so that the examinations use only a small share of a core.
#ifndef TOOLS_CLI_RANKS_LOOK_PACE_H_
#define TOOLS_CLI_RANKS_LOOK_PACE_H_

#include <algorithm>

namespace memoir {

inline constexpr double kUsualPercent = 2;  // the usual share of one core

// Returns the seconds until the next examination. `used`: processor seconds of the last examination. `percent`: the
// share of one core that may be used on average. `every`: the shortest interval, in seconds.
constexpr double SecondsToNextExamination(double used, double percent, double every) {
  return std::max(every, used * 100 / percent);
}

}  // namespace memoir

#endif  // TOOLS_CLI_RANKS_LOOK_PACE_H_
