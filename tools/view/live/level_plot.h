// Draws allocated and reserved bytes of the last seconds with block characters.
//
//     1.5 GiB │      ▁▄░░░
//             │  ▂▆█████▇▅       █ allocated, ░ reserved and not allocated
//             │██████████████
#ifndef TOOLS_VIEW_LIVE_LEVEL_PLOT_H_
#define TOOLS_VIEW_LIVE_LEVEL_PLOT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/analyze/live/live_figures.h"

namespace memoir {

// Returns `rows` lines, the highest first, each with at most `columns` columns. Each column shows one level, the newest
// on the right. The scale reaches from 0 to `capacity`, the size of a card, if a shown level has at least a fourth of
// it. Otherwise it reaches to the largest shown level. A `capacity` of 0 is not known.
std::vector<std::string> LevelPlot(const std::vector<LiveLevel>& levels, std::uint64_t capacity, std::size_t columns,
                                   std::size_t rows);

}  // namespace memoir

#endif  // TOOLS_VIEW_LIVE_LEVEL_PLOT_H_
