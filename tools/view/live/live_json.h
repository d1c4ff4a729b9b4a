// `memoir live --json`: one line for each interval (docs/live.md).
#ifndef TOOLS_VIEW_LIVE_LIVE_JSON_H_
#define TOOLS_VIEW_LIVE_LIVE_JSON_H_

#include <string>

#include "tools/analyze/live/live_figures.h"

namespace memoir {

// Bytes are exact; seconds and rates have four significant digits. Ends with a newline.
std::string LiveJsonLine(const LiveFigures& figures);

}  // namespace memoir

#endif  // TOOLS_VIEW_LIVE_LIVE_JSON_H_
