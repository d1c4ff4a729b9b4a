// Allocated and reserved bytes over the last seconds, drawn with block characters.
//
//     1.5 GiB │      ▁▄░░░
//             │  ▂▆█████▇▅       █ allocated, ░ reserved beside it
//             │██████████████
#ifndef TOOLS_VIEW_LIVE_LEVEL_PLOT_H_
#define TOOLS_VIEW_LIVE_LEVEL_PLOT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "tools/analyze/live/live_picture.h"

namespace memoir {

// `rows` lines, the highest first, each of at most `columns` columns: the newest levels, one a column, on a scale from
// 0 to the largest of them.
std::vector<std::string> LevelPlot(const std::vector<LiveLevel>& levels, std::size_t columns, std::size_t rows);

}  // namespace memoir

#endif  // TOOLS_VIEW_LIVE_LEVEL_PLOT_H_
