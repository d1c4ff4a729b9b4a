// The tables of a summary by module: the tree of modules with subtotals, and the phases.
#ifndef TOOLS_VIEW_CAPTURE_MODULE_TEXT_H_
#define TOOLS_VIEW_CAPTURE_MODULE_TEXT_H_

#include <cstddef>
#include <string>

#include "tools/analyze/summary/summary.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// `top`: about twice so many lines of the tree, the largest, with layers that are alike as one ("0-3 Block ×4"); 0:
// all, each by itself. What is left out is one line below its parent, so that each line is what stands below it.
std::string RenderModules(const Summary& summary, std::size_t top, const Terminal& terminal);

}  // namespace memoir

#endif  // TOOLS_VIEW_CAPTURE_MODULE_TEXT_H_
