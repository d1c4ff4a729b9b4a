// Draws allocated and reserved bytes of the last seconds with block characters.
//
//     1.5 GiB │      ▁▄░░░
//             │  ▂▆█████▇▅       █ allocated, ░ reserved and not allocated
//             │██████████████
#ifndef TOOLS_VIEW_LIVE_LEVEL_PLOT_H_
#define TOOLS_VIEW_LIVE_LEVEL_PLOT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "tools/analyze/live/live_figures.h"

namespace memoir {

// Returns `rows` lines, the highest first, each with at most `columns` columns. Each column shows one level, the newest
// on the right. The scale reaches from 0 to the largest shown level.
std::vector<std::string> LevelPlot(const std::vector<LiveLevel>& levels, std::size_t columns, std::size_t rows);

}  // namespace memoir

#endif  // TOOLS_VIEW_LIVE_LEVEL_PLOT_H_
