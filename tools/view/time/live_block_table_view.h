// Prints the live blocks at an instant as text and JSON.
#ifndef TOOLS_VIEW_TIME_LIVE_BLOCK_TABLE_VIEW_H_
#define TOOLS_VIEW_TIME_LIVE_BLOCK_TABLE_VIEW_H_

#include <cstddef>
#include <string>

#include "tools/analyze/time/live_block_table.h"
#include "tools/model/capture.h"
#include "tools/view/json/json.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// `instant`: the selected instant in words, "the peak", "mark:warm". `top`: rows for each device; 0: all.
std::string RenderLiveBlockTable(const Capture& capture, const LiveBlockTable& live, const std::string& instant,
                                 std::size_t top, const Terminal& terminal);
Json LiveBlockTableJson(const Capture& capture, const LiveBlockTable& live, const std::string& instant,
                        std::size_t top);

}  // namespace memoir

#endif  // TOOLS_VIEW_TIME_LIVE_BLOCK_TABLE_VIEW_H_
