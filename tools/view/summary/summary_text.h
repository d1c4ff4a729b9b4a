// The summary as text: what ran, the peak and its owners, which code allocates, what stays live, and what is missing.
#ifndef TOOLS_VIEW_SUMMARY_SUMMARY_TEXT_H_
#define TOOLS_VIEW_SUMMARY_SUMMARY_TEXT_H_

#include <cstddef>
#include <string>

#include "tools/analyze/summary/summary.h"
#include "tools/model/capture.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

struct SummaryTextOptions {
  std::size_t top = 10;   // rows of a table; 0: all. The other rows are summed in one, so columns sum to the total
  bool windowed = false;  // the summary covers a part of the recording
};

std::string RenderSummary(const Capture& capture, const Summary& summary, const SummaryTextOptions& options,
                          const Terminal& terminal);

}  // namespace memoir

#endif  // TOOLS_VIEW_SUMMARY_SUMMARY_TEXT_H_
