// `memoir live` as text: a screen on a terminal, and plain lines elsewhere.
#ifndef TOOLS_VIEW_LIVE_LIVE_TEXT_H_
#define TOOLS_VIEW_LIVE_LIVE_TEXT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "tools/analyze/live/live_figures.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

struct LiveScreenOptions {
  std::size_t height = 24;  // lines of the terminal; 0: no limit
  std::string keys;         // the last line: "q quit  s snapshot"; empty: no such line
  std::string message;      // the line above the keys: the result of the last key; empty: no such line
};

// Returns lines of at most the terminal's width, without newlines. If the height is too small, the least important
// lines are left out, and a line states how many processes are left out.
std::vector<std::string> RenderLiveScreen(const LiveFigures& figures, const Terminal& terminal,
                                          const LiveScreenOptions& options);

// Returns a line with a newline for each process: "12:05:01 rank 0 (pid 100) train.py, running for 5 s, ...". At most
// `top` processes, in the order of ProcessesWorstFirst(), and then a line with the number of the others.
std::string RenderLiveLines(const LiveFigures& figures, std::size_t top);

}  // namespace memoir

#endif  // TOOLS_VIEW_LIVE_LIVE_TEXT_H_
