// `memoir live --json`: one line for each interval (docs/live.md).
#ifndef TOOLS_VIEW_LIVE_LIVE_JSON_H_
#define TOOLS_VIEW_LIVE_LIVE_JSON_H_

#include <string>

#include "tools/analyze/live/live_figures.h"

namespace memoir {

// Exact numbers; ends with a newline.
std::string LiveJsonLine(const LiveFigures& figures);

}  // namespace memoir

#endif  // TOOLS_VIEW_LIVE_LIVE_JSON_H_
