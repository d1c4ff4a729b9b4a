// Prints the tables of a summary by module: the tree of modules with subtotals, and the phases.
#ifndef TOOLS_VIEW_CAPTURE_MODULE_TEXT_H_
#define TOOLS_VIEW_CAPTURE_MODULE_TEXT_H_

#include <cstddef>
#include <string>

#include "tools/analyze/summary/summary.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// If `top` is 0, the tree shows all modules separately. Otherwise the tree shows the 2 * `top` largest modules, and
// merges equal layers ("0-3 Block ×4"). Omitted modules are summed in one line below their parent, so each line is the
// sum of the lines one level below it.
std::string RenderModules(const Summary& summary, std::size_t top, const Terminal& terminal);

}  // namespace memoir

#endif  // TOOLS_VIEW_CAPTURE_MODULE_TEXT_H_
