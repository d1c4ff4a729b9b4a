// `memoir live` as text: the picture of a terminal, and plain lines where there is none.
#ifndef TOOLS_VIEW_LIVE_LIVE_TEXT_H_
#define TOOLS_VIEW_LIVE_LIVE_TEXT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "tools/analyze/live/live_picture.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

struct LiveScreenOptions {
  std::size_t height = 24;  // lines of the terminal; 0: as many as it takes
  std::string keys;         // the last line: "q quit  s snapshot"; "": none
  std::string message;      // above it: what the last key did; "": nothing
};

// Lines of at most the terminal's width, without newlines; what does not fit into the height is left out from the
// least important on, and the number of processes that are left out is said.
std::vector<std::string> RenderLiveScreen(const LivePicture& picture, const Terminal& terminal,
                                          const LiveScreenOptions& options);

// A line for each process, each ended by a newline: "12:05:01 rank 0 (pid 100) train.py, running for 5 s, ..."; at most
// `top` of them, worst first, then how many more there are.
std::string RenderLiveLines(const LivePicture& picture, std::size_t top);

}  // namespace memoir

#endif  // TOOLS_VIEW_LIVE_LIVE_TEXT_H_
