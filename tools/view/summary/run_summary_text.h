// The summary at the end of `memoir run`: peak, owners and the next command, in few lines. `memoir show` prints the
// tables (summary_text.h).
//
//     train.py, torch 2.11.0, 4.7 s recorded, 10 optimizer steps
//     peak      162.1 MiB on cpu, step 1 (2.0012 s), at train.py:69 main
//     category  activation 89.9 MiB 55%, optimizer state 32.2 MiB 20%
//     ...
//     tables    memoir show run1
#ifndef TOOLS_VIEW_SUMMARY_RUN_SUMMARY_TEXT_H_
#define TOOLS_VIEW_SUMMARY_RUN_SUMMARY_TEXT_H_

#include <cstddef>
#include <string>

#include "tools/analyze/summary/peak_owners.h"
#include "tools/view/summary/ending_text.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// The most lines for a run without an out-of-memory error. After such an error its message, with at most this many
// lines, replaces the lines about owners.
inline constexpr std::size_t kLinesOfRunSummary = 12;

// Facts for the commands that the summary suggests.
struct TypedCommand {
  std::string capture;     // escaped
  bool has_report = true;  // true: the page of `memoir report` is part of this installation
};

std::string RenderRunSummary(const Capture& capture, const PeakOwners& owners, const TypedCommand& command,
                             const Terminal& terminal, const CommandEnd& end = {});

}  // namespace memoir

#endif  // TOOLS_VIEW_SUMMARY_RUN_SUMMARY_TEXT_H_
