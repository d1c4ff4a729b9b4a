// Prints the table of a summary by parameter: the bytes of each parameter, its gradient and its optimizer state.
#ifndef TOOLS_VIEW_SUMMARY_PARAMETER_TEXT_H_
#define TOOLS_VIEW_SUMMARY_PARAMETER_TEXT_H_

#include <cstddef>
#include <string>

#include "tools/analyze/summary/summary.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// Prints the `top` largest parameters, and the others as one line; 0: all. All figures are bytes at the peak.
std::string RenderParameters(const Summary& summary, std::size_t top, const Terminal& terminal);

}  // namespace memoir

#endif  // TOOLS_VIEW_SUMMARY_PARAMETER_TEXT_H_
