#include "tools/cli/show/show_arguments.h"

#include <vector>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "tools/analyze/pass/window/groupings.h"
#include "tools/cli/brief/brief_answer.h"
#include "tools/cli/show/show_view.h"

namespace memoir {
namespace {

// Lists the values of --by, and what the rows of the less obvious ones are.
std::string ByHelp() {
  std::string words, explained;
  for (const GroupingFacts& grouping : kGroupings) {
    const bool is_last = &grouping == std::end(kGroupings) - 1;
    words += fmt::format("{}{}", words.empty() ? "" : is_last ? " or " : ", ", grouping.word);
    if (!grouping.help.empty()) explained += fmt::format("; {}: {}", grouping.word, grouping.help);
  }
  for (const ShowView* view : ShowViews()) {
    if (!view->by.empty()) explained += fmt::format("; {}: {}", view->by, view->by_help);
  }
  return "rows: " + words + explained +
         " [operator; of a memory snapshot line; of more than 8 ranks job, but with --json]";
}

}  // namespace

void AddShowOptions(CLI::App& app, ShowArguments& arguments) {
  app.add_option("CAPTURE", arguments.capture, kCaptureHelp);
  app.add_option("--by", arguments.by, ByHelp());
  app.add_option("--own", arguments.own,
                 "for --by line and stack: the folder or file of your own code [all but site-packages, the standard "
                 "library and torch]");
  app.add_option("--at", arguments.at,
                 "what is live at this instant: peak, end, a TIME (1.5s, 20ms; without unit: seconds), mark:NAME, oom");
  app.add_option("--over", arguments.over,
                 "time: live bytes over time, with --by category: of each category; operators: allocated, active and "
                 "reserved bytes of a GPU after each operator call, and the markers of every iteration");
  app.add_flag("--tree", arguments.tree,
               "user ranges, modules, operators and autograd nodes as a tree, by their nesting, with their changes of "
               "memory (docs/tree.md)");
  AddNumber(app, "--depth", arguments.depth,
            "levels of --tree, counted from the range of the window, or of --by stack; 0: all [6, 12; all with --top 0 "
            "and in --json]");
  app.add_option("--grep", arguments.grep,
                 "--tree: only nodes with this text in their name or module, with the nodes around and inside them");
  app.add_option("--calls", arguments.calls,
                 "--tree, of a recording with --stacks calls: calls of Python functions of your own code (own), of "
                 "libraries and in C as well (all), or none [own]");
  app.add_option("--thread", arguments.thread, "--tree: only this thread, by its number or name");
  AddTimeOptions(app, arguments, "");
  app.add_option("--range", arguments.range, "only inside the user ranges NAME; NAME#n: only its n-th call, from 0");
  app.add_option("--steps", arguments.steps, kStepsHelp);
  AddBlockOptions(app, arguments, "");
  AddNumber(
      app, "--top", arguments.top,
      "rows of a table, children of a node of --tree; 0: all, with a separate row for each of several equal layers "
      "[10, in --tree those with 0.5% of the bytes or more; all in --json]");
  app.add_option("--device", arguments.device, "only this device: cpu, pinned, cuda:0");
  AddNumber(app, "--rank", arguments.rank, "only this rank");
  AddRunOption(app, arguments.run);
  app.add_option("--png", arguments.png, "file for the picture of --over time");
  app.add_option("--svg", arguments.svg, "the same as SVG");
  app.add_flag("--dark", arguments.dark, "for --png and --svg: light on dark");
  AddJson(app, arguments.json, arguments.brief, "exact numbers, every row (docs/json.md)");
}

}  // namespace memoir
