#include "tools/cli/arguments/selection_arguments.h"

#include "absl/strings/numbers.h"
#include "tools/model/capture.h"

namespace memoir {

void AddRun(CLI::App& app, std::string& run) {
  app.add_option("--run", run,
                 "of a folder that was used for several runs, this one: its number from 1, or last [last]");
}

std::string RunComplaint(const std::string& run) {
  std::uint32_t number = 0;
  if (run == "last" || (absl::SimpleAtoi(run, &number) && number > 0 && number <= kMaxNumber)) return "";
  return "--run " + run + ": expected the number of a run, from 1, or last";
}

std::uint32_t RunOf(const std::string& run) {
  std::uint32_t number = kLastRun;
  if (run != "last" && !absl::SimpleAtoi(run, &number)) number = kLastRun;
  return number;
}

std::string WindowComplaint(const SelectionArguments& arguments) {
  if (std::string wrong = RunComplaint(arguments.run); !wrong.empty()) return wrong;
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
