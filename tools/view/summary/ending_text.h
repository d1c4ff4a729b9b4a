// The first line of a summary whose program did not end properly: how it ended.
//
//     train.py FAILED: RuntimeError: mat1 and mat2 shapes cannot be multiplied; in step 7, aten::linear at net.py:12
//     train.py was KILLED by signal 9 (SIGKILL); in step 7, aten::mm at net.py:12
#ifndef TOOLS_VIEW_SUMMARY_ENDING_TEXT_H_
#define TOOLS_VIEW_SUMMARY_ENDING_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/analyze/summary/endings.h"
#include "tools/model/capture.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// How the command of `memoir run` ended, as its parent saw it.
struct CommandEnd {
  std::uint64_t pid = 0;
  int exit_code = 0;
  int signal = 0;      // signal that killed the command; 0: no signal
  int interrupts = 0;  // number of Ctrl-C
};

// Returns the line, wrapped, with a newline. Empty if all processes ended properly. For a job, describes the process
// that failed first. `command` is CommandEnd() if the line is not for a `memoir run` that has just ended.
std::string EndingLine(const Capture& capture, const std::vector<Ending>& endings, const CommandEnd& command,
                       const Terminal& terminal);

}  // namespace memoir

#endif  // TOOLS_VIEW_SUMMARY_ENDING_TEXT_H_
