// Prints the tables of a summary by module: the tree of modules with subtotals, and the phases.
#ifndef TOOLS_VIEW_CAPTURE_MODULE_TEXT_H_
#define TOOLS_VIEW_CAPTURE_MODULE_TEXT_H_

#include <cstddef>
#include <string>

#include "tools/analyze/summary/summary.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// `top`: the tree shows up to 2 * `top` modules, the largest, and merges equal layers ("0-3 Block ×4"). 0: it shows all
// modules separately. Omitted modules are summed in one line below their parent, so each line is the sum of the lines
// one level below it.
std::string RenderModules(const Summary& summary, std::size_t top, const Terminal& terminal);

}  // namespace memoir

#endif  // TOOLS_VIEW_CAPTURE_MODULE_TEXT_H_
