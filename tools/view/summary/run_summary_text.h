// The first summary, which `memoir run` ends with: how much, who, what next, in few lines. The tables are those of
// `memoir show` (summary_text.h).
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

#include "tools/analyze/summary/peak_holders.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// Of a run that did not run out of memory. Where it did, the message about that takes the place of who held the bytes,
// with at most this many lines of its own.
inline constexpr std::size_t kLinesOfRunSummary = 12;

// How the next commands are typed.
struct TypedCommand {
  std::string program;     // "memoir", or the path of it
  std::string capture;     // escaped, as the next
  bool has_report = true;  // the page of `memoir report` is part of this installation
};

std::string RenderRunSummary(const Capture& capture, const PeakHolders& holders, const TypedCommand& command,
                             const Terminal& terminal);

}  // namespace memoir

#endif  // TOOLS_VIEW_SUMMARY_RUN_SUMMARY_TEXT_H_
