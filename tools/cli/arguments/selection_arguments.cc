#include "tools/cli/arguments/selection_arguments.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "proto/memoir/byte_size.h"
#include "tools/analyze/pass/instant_choice.h"
#include "tools/cli/arguments/option_values.h"
#include "tools/model/capture.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

std::optional<std::uint64_t> TimeOf(const std::string& text) {
  const std::optional<InstantChoice> at = ParseInstantChoice(text);
  return at && at->kind == InstantChoice::Kind::kTime ? std::optional(at->ns) : std::nullopt;
}

SelectionWindow TimesOf(const SelectionArguments& arguments) {
  return SelectionWindow::Time(TimeOf(arguments.from).value_or(0), TimeOf(arguments.to).value_or(UINT64_MAX));
}

std::string TimesComplaint(const SelectionArguments& arguments) {
  if ((arguments.from + arguments.to).empty()) return "";
  if (!(arguments.range + arguments.steps).empty())
    return "--from and --to choose a window, as do --range and --steps; give one";
  for (const auto& [option, text] : {std::pair("--from ", arguments.from), std::pair("--to ", arguments.to)}) {
    if (!text.empty() && !TimeOf(text)) return option + text + ": expected a time such as 1.5s, 20ms or 1.5 (seconds)";
  }
  const SelectionWindow window = TimesOf(arguments);
  return window.end_ns <= window.begin_ns ? "--to is not later than --from" : "";
}

}  // namespace

void AddTimeOptions(CLI::App& app, SelectionArguments& arguments, const std::string& of) {
  const std::string what = of.empty() ? "" : of + ": ";
  app.add_option("--from", arguments.from, what + "only from this time on, such as 1.5s or 20ms");
  app.add_option("--to", arguments.to, what + "only up to this time");
}

void AddBlockOptions(CLI::App& app, SelectionArguments& arguments, const std::string& of) {
  const std::string what = of.empty() ? "" : of + ": ";
  app.add_option("--module", arguments.module,
                 what +
                     "only blocks of these modules and of all inside them: layers.3, 'layers.*.mlp' (* stands for "
                     "any characters)");
  app.add_option("--min-size", arguments.min_size, what + "only blocks of so many bytes or more: 1MiB");
}

std::string ChosenBlocksLine(const Selection& selection) {
  if (selection.takes_all_blocks()) return "";
  std::string text = "Only blocks";
  if (!selection.module.empty()) text += " of modules " + Escaped(selection.module);
  if (selection.min_bytes > 0)
    text += (selection.module.empty() ? "" : ",") + (" of " + FormatBytes(selection.min_bytes)) + " or more";
  return text + "\n\n";
}

void AddRunOption(CLI::App& app, std::string& run) {
  app.add_option("--run", run, "if the folder was used for several runs: the number of one, from 1, or last [last]");
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
  if (std::string wrong = TimesComplaint(arguments); !wrong.empty()) return wrong;
  if (!arguments.steps.empty() && !ParseStepsWindow(arguments.steps))
    return "--steps " + arguments.steps + ": expected A:B with A before B, such as 10:12";
  if (!arguments.min_size.empty() && !ParseSize(arguments.min_size))
    return "--min-size " + arguments.min_size + ": expected a size such as 1MiB or 65536";
  if (arguments.forget_before && (arguments.steps + arguments.range + arguments.from + arguments.to).empty())
    return "--forget-before needs a window: --range, --steps, --from or --to";
  if (!arguments.steps.empty() && !arguments.range.empty())
    return "--range and --steps choose different windows; give one";
  return "";
}

Selection SelectionOf(const SelectionArguments& arguments) {
  Selection selection;
  if (!arguments.range.empty()) selection.window = ParseRangeWindow(arguments.range);
  if (!arguments.steps.empty()) selection.window = *ParseStepsWindow(arguments.steps);
  if (!(arguments.from + arguments.to).empty()) selection.window = TimesOf(arguments);
  if (!arguments.device.empty()) selection.device = arguments.device;
  selection.rank = arguments.rank;
  selection.module = arguments.module;
  selection.min_bytes = ParseSize(arguments.min_size).value_or(0);
  selection.forget_before = arguments.forget_before;
  return selection;
}

}  // namespace memoir
