#include "tools/cli/arguments/selection_arguments.h"

namespace memoir {

std::string WindowComplaint(const SelectionArguments& arguments) {
  if (!arguments.steps.empty() && !ParseStepsWindow(arguments.steps))
    return "--steps " + arguments.steps + ": expected A:B with A before B, such as 10:12";
  if (arguments.forget_before && arguments.steps.empty() && arguments.range.empty())
    return "--forget-before needs a window: --range or --steps";
  if (!arguments.steps.empty() && !arguments.range.empty()) return "--range and --steps are two windows; give one";
  return "";
}

Selection SelectionOf(const SelectionArguments& arguments) {
  Selection selection;
  if (!arguments.range.empty()) selection.window = ParseRangeWindow(arguments.range);
  if (!arguments.steps.empty()) selection.window = *ParseStepsWindow(arguments.steps);
  if (!arguments.device.empty()) selection.device = arguments.device;
  selection.rank = arguments.rank;
  selection.forget_before = arguments.forget_before;
  return selection;
}

}  // namespace memoir
