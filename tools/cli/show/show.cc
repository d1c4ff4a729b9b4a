// memoir show: chooses a view, checks the options, and prints the view.
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "tools/analyze/pass/instant_choice.h"
#include "tools/analyze/pass/window/groupings.h"
#include "tools/analyze/pass/window/step_counter.h"
#include "tools/cli/arguments/arguments.h"
#include "tools/cli/arguments/selection_arguments.h"
#include "tools/cli/arguments/verbs.h"
#include "tools/cli/attach/ring_merge.h"
#include "tools/cli/brief/brief_answer.h"
#include "tools/cli/show/job_overview_request.h"
#include "tools/cli/show/show_view.h"
#include "tools/cli/terminal/exit_code.h"
#include "tools/cli/terminal/nearest.h"
#include "tools/cli/terminal/printed_messages.h"
#include "tools/cli/terminal/progress_line.h"
#include "tools/model/import_source.h"
#include "tools/model/snapshot_trigger.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {
namespace {

// NOLINTNEXTLINE(bugprone-throwing-static-initialization): throws only if memory runs out, which ends any program
const VerbHelp kHelp = {
    .verb = "show",
    .usage = "[show] [OPTIONS] CAPTURE",
    .description =
        "Show a recording: the peak and what was live at it, what allocates, what stays until the end. The rows of a "
        "table add up to its total. CAPTURE is the folder that `memoir run` wrote, or one part file of it. "
        "docs/reading_the_numbers.md explains the columns.",
    .examples =
        "  memoir memoir-20260102-030405 --by category --steps 10:12\n"
        "  memoir show run7 --by checkpoint\n",
};

// Describes an invalid value of --by, --at or --over, or a combination of them that no view has.
std::string ComplaintAboutChoice(const ShowArguments& arguments) {
  std::vector<std::string> words;
  for (const GroupingFacts& grouping : kGroupings) words.emplace_back(grouping.word);
  for (const ShowView* view : ShowViews()) {
    if (!view->by.empty()) words.emplace_back(view->by);
  }
  if (!arguments.by.empty() && std::ranges::find(words, arguments.by) == words.end())
    return fmt::format("--by {}: not one of {}{}", arguments.by, fmt::join(words, ", "),
                       DidYouMean(arguments.by, words));
  if (!arguments.at.empty() && !ParseInstantChoice(arguments.at))
    return "--at " + arguments.at +
           ": expected peak, end, a time such as 1.5s, 20ms or 1.5 (seconds), mark:NAME or oom";
  const std::vector<std::string> overs = {"time", "operators"};
  if (!arguments.over.empty() && std::ranges::find(overs, arguments.over) == overs.end())
    return "--over " + arguments.over + ": not one of time, operators" + DidYouMean(arguments.over, overs);
  const int views = (arguments.at.empty() ? 0 : 1) + (arguments.over.empty() ? 0 : 1) + (arguments.tree ? 1 : 0);
  if (views > 1) return "--at, --over and --tree are different views; give one";
  const bool stacked = arguments.over == "time" && arguments.by == "category";
  if (!arguments.by.empty() && arguments.by != "operator" && (arguments.tree || !arguments.over.empty()) && !stacked)
    return "--by has no meaning with --tree and --over; --over time --by category alone";
  return "";
}

// Describes the first option that is invalid or that the chosen view does not take. "" if all options are valid.
std::string Complaint(const ShowArguments& arguments) {
  if (arguments.capture.empty()) return "no capture given";
  if (std::string wrong = ComplaintAboutChoice(arguments); !wrong.empty()) return wrong;
  const ShowView& view = ChosenView(arguments);
  if (!view.refuses_at.empty() && !arguments.at.empty()) return std::string(view.refuses_at);
  if (std::string wrong = view.complaint == nullptr ? "" : view.complaint(arguments); !wrong.empty()) return wrong;
  if (std::string wrong = WindowComplaint(arguments); !wrong.empty()) return wrong;
  if (arguments.chooses_blocks() && !view.shows_blocks)
    return "--module and --min-size choose blocks, but this view does not show blocks; leave them out";
  const auto by = ParseGroupBy(arguments.by);
  if (!arguments.own.empty() && !view.has_lines && !(by && NeedsStacks(*by)))
    return "--own works only with lines and calls; add --by line, --by stack or --tree";
  if (arguments.calls != "own" && !arguments.tree) return "--calls works only with --tree; add that";
  if (!(arguments.thread + arguments.grep).empty() && !arguments.tree)
    return "--thread and --grep work only with --tree; add that";
  if (arguments.depth && !view.has_levels) return "--depth needs --tree or --by stack";
  if (arguments.draws() && arguments.over != "time") return "--png and --svg draw --over time; add that";
  if (arguments.dark && !arguments.draws()) return "--dark needs --png or --svg";
  return "";
}

// Chooses a view of the live blocks, because a snapshot contains nothing else.
void ChooseLive(ShowArguments& arguments) {
  if (!arguments.at.empty() || !arguments.over.empty() || arguments.tree) return;
  if (arguments.by.empty()) arguments.by = "category";
  if (ChosenView(arguments).by.empty()) arguments.at = "end";
}

ShownText Show(ShowArguments arguments) {
  const Terminal terminal = DetectTerminal(STDOUT_FILENO);
  const bool asks_for_job = &ChosenView(arguments) == &kShowJob;
  // With --json the overview is shown only on request, because programs rely on the keys of the usual document.
  const bool may_be_job = arguments.by.empty() && arguments.shows_whole() && !arguments.json;
  if (asks_for_job || may_be_job) {
    const auto job = ShowJobOverview(
        {arguments.capture, RunOf(arguments.run), asks_for_job, arguments.json, arguments.top}, terminal);
    if (!job.ok()) return job.status();
    if (job->has_value()) return **job;
  }
  const auto capture =
      OpenMerged(arguments.capture, [](const std::string& line) { PrintMessage(line); }, RunOf(arguments.run));
  if (!capture.ok()) return capture.status();
  if (IsSnapshot(*capture)) ChooseLive(arguments);
  if (arguments.by.empty()) arguments.by = DefaultGrouping(*capture);
  ProgressLine progress("reading " + arguments.capture);
  Selection selection = SelectionOf(arguments);
  selection.own = arguments.own;
  selection.progress = progress.callback();
  if (const absl::Status status = FindSteps(*capture, selection); !status.ok()) return status;
  return ChosenView(arguments).show({*capture, arguments, selection, terminal});
}

}  // namespace

int ShowVerb(const std::vector<std::string>& arguments) {
  ShowArguments asked;
  const auto app = MakeArguments(kHelp);
  AddShowOptions(*app, asked);
  if (const auto code = ParseArguments(*app, "show", arguments)) return *code;
  if (const std::string complaint = Complaint(asked); !complaint.empty()) return FailUsage("show", complaint);
  const auto shown = Show(asked);
  if (!shown.ok()) return Fail(shown.status());
  return WriteOutput(asked.brief ? BriefAnswer(*shown, asked, asked.capture) : *shown);
}

}  // namespace memoir
