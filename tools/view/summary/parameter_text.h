// The table of a summary by parameter: what each costs, itself, its gradient and its optimizer's state.
#ifndef TOOLS_VIEW_SUMMARY_PARAMETER_TEXT_H_
#define TOOLS_VIEW_SUMMARY_PARAMETER_TEXT_H_

#include <cstddef>
#include <string>

#include "tools/analyze/summary/summary.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// The `top` largest, the rest as one line; 0: all. Numbers are those at the peak.
std::string RenderParameters(const Summary& summary, std::size_t top, const Terminal& terminal);

}  // namespace memoir

#endif  // TOOLS_VIEW_SUMMARY_PARAMETER_TEXT_H_
