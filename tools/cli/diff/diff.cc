// memoir diff: compares two captures, row by row.
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "tools/analyze/compare/compare_captures.h"
#include "tools/analyze/compare/comparison.h"
#include "tools/analyze/pass/instant_choice.h"
#include "tools/analyze/pass/window/groupings.h"
#include "tools/analyze/pass/window/step_counter.h"
#include "tools/cli/arguments/arguments.h"
#include "tools/cli/arguments/selection_arguments.h"
#include "tools/cli/arguments/typed_path.h"
#include "tools/cli/arguments/verbs.h"
#include "tools/cli/attach/ring_merge.h"
#include "tools/cli/brief/brief_answer.h"
#include "tools/cli/terminal/exit_code.h"
#include "tools/cli/terminal/nearest.h"
#include "tools/cli/terminal/printed_messages.h"
#include "tools/cli/terminal/progress_line.h"
#include "tools/view/compare/compare_json.h"
#include "tools/view/compare/compare_text.h"
#include "tools/view/compare/headline.h"
#include "tools/view/terminal/printed_command.h"
#include "tools/view/terminal/terminal.h"
#include "tools/view/terminal/terminal_text.h"

namespace memoir {
namespace {

// NOLINTNEXTLINE(bugprone-throwing-static-initialization): throws only if memory runs out, which ends any program
const VerbHelp kHelp = {
    .verb = "diff",
    .usage = "diff [OPTIONS] A B",
    .description =
        "Compare two captures, or two snapshots, or one of each: what B holds more or less than A at its peak. The "
        "first line names the main cause; the differences of the rows add up to the difference of the peaks. Modules "
        "are compared without module., _orig_mod. and _fsdp_wrapped_module. in their paths, and lines by what ran at "
        "them, also where an edit has moved them (docs/comparing.md).",
    .examples =
        "  memoir diff before after\n"
        "  memoir diff --by category,module --map encoder=backbone before after\n",
};

struct DiffArguments : SelectionArguments {
  std::string a, b;
  std::string by;  // "": by line, if lines are known
  std::string own;
  std::string at = "peak";
  std::vector<std::string> maps;
  std::string runs;
  bool json = false, brief = false;
  std::optional<std::uint32_t> top;
};

void AddOptions(CLI::App& app, DiffArguments& arguments) {
  app.add_option("A", arguments.a, kCaptureHelp);
  app.add_option("B", arguments.b, "the same, for the capture that is compared with A");
  app.add_option("--by", arguments.by,
                 "rows: line, module, operator, category, category,module, category,line, parameter, leaf, range, "
                 "region, thread, shape, pool or rank [line; where no lines were recorded module]");
  app.add_option("--at", arguments.at,
                 "what is live at this instant: peak, end, a TIME (1.5s, 20ms; without unit: seconds), mark:NAME, oom "
                 "[peak]");
  app.add_option("--map", arguments.maps,
                 "OLD=NEW: what A calls OLD, B calls NEW: a module or the beginning of its path, a class, an operator, "
                 "a function, a file or folder; may be given several times")
      ->allow_extra_args(false);
  app.add_option("--own", arguments.own,
                 "for lines: the folder or file of your own code [all but site-packages, the standard library and "
                 "torch]");
  AddTimeOptions(app, arguments, "");
  app.add_option("--range", arguments.range, "only inside the user ranges NAME; NAME#n: only its n-th call, from 0");
  app.add_option("--steps", arguments.steps, kStepsHelp);
  AddBlockOptions(app, arguments, "");
  AddNumber(app, "--top", arguments.top,
            "rows of a table; 0: all, with a separate row for each of several equal layers [10; all in --json]");
  app.add_option("--device", arguments.device, "only this device: cpu, pinned, cuda:0");
  AddNumber(app, "--rank", arguments.rank, "only this rank");
  app.add_option("--run", arguments.runs,
                 "if the folders were used for several runs: A's and B's number, from 1, or last, such as 1:2 "
                 "[last:last]");
  AddJson(app, arguments.json, arguments.brief, "exact numbers, every row (docs/json.md)");
}

// Returns the runs of A and B, from the value of --runs: "1:2", or "2" for both.
std::pair<std::string, std::string> RunsOf(const std::string& runs) {
  if (runs.empty()) return {"last", "last"};
  const std::size_t at = runs.find(':');
  return at == std::string::npos ? std::pair(runs, runs) : std::pair(runs.substr(0, at), runs.substr(at + 1));
}

bool AreOne(const DiffArguments& arguments) {
  std::error_code error;
  const auto [run_a, run_b] = RunsOf(arguments.runs);
  return run_a == run_b && std::filesystem::equivalent(arguments.a, arguments.b, error) && !error;
}

std::string Complaint(const DiffArguments& arguments) {
  if (arguments.a.empty()) return "no capture given; memoir diff compares two";
  if (arguments.b.empty()) return "one capture given; memoir diff compares two";
  if (AreOne(arguments)) return "A and B are both " + arguments.a + "; give two captures";
  std::vector<std::string> groups;
  for (const GroupingFacts& grouping : kGroupings) groups.emplace_back(grouping.word);
  if (!arguments.by.empty() && !ParseGroupBy(arguments.by)) {
    return fmt::format("--by {}: not one of {}{}", arguments.by, fmt::join(groups, ", "),
                       DidYouMean(arguments.by, groups));
  }
  if (!ParseInstantChoice(arguments.at)) {
    return "--at " + arguments.at +
           ": expected peak, end, a time such as 1.5s, 20ms or 1.5 (seconds), mark:NAME or oom";
  }
  for (const std::string& map : arguments.maps) {
    if (!ParseRename(map)) return "--map " + map + ": expected OLD=NEW, such as encoder=backbone";
  }
  const auto [run_a, run_b] = RunsOf(arguments.runs);
  for (const std::string& run : {run_a, run_b}) {
    if (!RunComplaint(run).empty())
      return "--run " + arguments.runs + ": expected two numbers of runs, from 1, or last, such as 1:2";
  }
  return WindowComplaint(arguments);
}

std::string InstantName(const std::string& at) {
  if (at == "oom") return "the last out-of-memory error";
  return at == "peak" || at == "end" ? "the " + at : at;
}

// Returns the same command with another grouping: by line after a grouping by module, otherwise by category and module.
std::string MoreHint(const std::vector<std::string>& words, const Comparison& comparison) {
  if (comparison.focus() == nullptr) return "";
  const bool by_module = comparison.by == GroupBy::kCategoryModule || comparison.by == GroupBy::kModule;
  std::string command = PrintedCommand(by_module ? "diff --by line" : "diff --by category,module");
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--by") {
      ++i;
    } else if (!words[i].starts_with("--by=")) {
      command += " " + TypedWord(words[i]);
    }
  }
  return command;
}

absl::StatusOr<Capture> OpenOne(const std::string& path, const std::string& run) {
  absl::StatusOr<Capture> capture = OpenMerged(path, [](const std::string& line) { PrintMessage(line); }, RunOf(run));
  if (capture.ok() && capture->events() == 0)
    return absl::FailedPreconditionError(path + ": no event was recorded, so there is nothing to compare");
  return capture;
}

absl::StatusOr<std::string> Diff(const DiffArguments& arguments, const std::vector<std::string>& words) {
  const auto [run_a, run_b] = RunsOf(arguments.runs);
  const absl::StatusOr<Capture> a = OpenOne(arguments.a, run_a);
  if (!a.ok()) return a.status();
  const absl::StatusOr<Capture> b = OpenOne(arguments.b, run_b);
  if (!b.ok()) return b.status();
  ProgressLine progress_a("reading " + arguments.a), progress_b("reading " + arguments.b);
  CompareOptions options;
  options.a = SelectionOf(arguments);
  options.a.own = arguments.own;
  options.b = options.a;
  options.a.progress = progress_a.callback();
  options.b.progress = progress_b.callback();
  options.at = *ParseInstantChoice(arguments.at);
  options.by = ParseGroupBy(arguments.by);
  for (const std::string& map : arguments.maps) options.renames.push_back(*ParseRename(map));
  if (const absl::Status status = FindSteps(*a, options.a); !status.ok()) return status;
  if (const absl::Status status = FindSteps(*b, options.b); !status.ok()) return status;
  const absl::StatusOr<Comparison> comparison = CompareCaptures(*a, *b, options);
  if (!comparison.ok()) return comparison.status();
  const std::string at = comparison->of_snapshots ? "the snapshot" : InstantName(arguments.at);
  if (arguments.json) return ToText(CompareJson(*a, *b, *comparison, arguments.at, Headline(*comparison, at)));
  const CompareTextOptions text = {.top = arguments.top.value_or(10),
                                   .at = at,
                                   .chosen = ChosenBlocksLine(options.a),
                                   .more = MoreHint(words, *comparison)};
  return RenderComparison(*a, *b, *comparison, text, DetectTerminal(STDOUT_FILENO));
}

}  // namespace

int DiffVerb(const std::vector<std::string>& arguments) {
  DiffArguments asked;
  const auto app = MakeArguments(kHelp);
  AddOptions(*app, asked);
  if (const auto code = ParseArguments(*app, "diff", arguments)) return *code;
  if (const std::string complaint = Complaint(asked); !complaint.empty()) return FailUsage("diff", complaint);
  const auto text = Diff(asked, arguments);
  if (!text.ok()) return Fail(text.status());
  return WriteOutput(asked.brief ? BriefDiff(*text, arguments) : *text);
}

}  // namespace memoir
