// What is live at an instant, as text and as JSON.
#ifndef TOOLS_VIEW_TIME_LIVE_VIEW_H_
#define TOOLS_VIEW_TIME_LIVE_VIEW_H_

#include <cstddef>
#include <string>

#include "tools/analyze/time/live_at.h"
#include "tools/model/capture.h"
#include "tools/view/json/json.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// `instant` is what was asked for: "the peak", "mark:warm". `top`: rows per device; 0: all.
std::string RenderLiveAt(const Capture& capture, const LiveAt& live, const std::string& instant, std::size_t top,
                         const Terminal& terminal);
Json LiveAtJson(const Capture& capture, const LiveAt& live, const std::string& instant, std::size_t top);

}  // namespace memoir

#endif  // TOOLS_VIEW_TIME_LIVE_VIEW_H_
