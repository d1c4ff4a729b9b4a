// memoir show: the views of a capture.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "tools/analyze/calls/device_call_summary.h"
#include "tools/analyze/checkpointing/checkpointing.h"
#include "tools/analyze/compiled/compiled_frames.h"
#include "tools/analyze/pass/window/groupings.h"
#include "tools/analyze/pass/window/step_counter.h"
#include "tools/analyze/segments/fragmentation.h"
#include "tools/analyze/stacks/stack_tree.h"
#include "tools/analyze/summary/summary.h"
#include "tools/analyze/time/live_block_table.h"
#include "tools/analyze/time/operator_curve.h"
#include "tools/analyze/time/wider_buckets.h"
#include "tools/analyze/tree/range_tree.h"
#include "tools/cli/arguments/arguments.h"
#include "tools/cli/arguments/selection_arguments.h"
#include "tools/cli/arguments/verbs.h"
#include "tools/cli/attach/ring_merge.h"
#include "tools/cli/brief/brief_answer.h"
#include "tools/cli/show/drawn_over_time.h"
#include "tools/cli/show/job_overview_request.h"
#include "tools/cli/terminal/exit_code.h"
#include "tools/cli/terminal/nearest.h"
#include "tools/cli/terminal/printed_messages.h"
#include "tools/cli/terminal/progress_line.h"
#include "tools/model/import_source.h"
#include "tools/model/snapshot_trigger.h"
#include "tools/view/calls/device_calls_view.h"
#include "tools/view/capture/capture_text.h"
#include "tools/view/checkpointing/checkpoint_view.h"
#include "tools/view/compiled/compiled_view.h"
#include "tools/view/segments/fragmentation_view.h"
#include "tools/view/stacks/stack_view.h"
#include "tools/view/summary/summary_json.h"
#include "tools/view/summary/summary_text.h"
#include "tools/view/terminal/terminal.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/time/live_block_table_view.h"
#include "tools/view/time/operator_curve_view.h"
#include "tools/view/time/over_time_picture.h"
#include "tools/view/time/over_time_view.h"
#include "tools/view/tree/tree_view.h"

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

struct ShowArguments : SelectionArguments {
  std::string capture;
  bool json = false, brief = false;
  std::string by;  // "": the grouping that shows most of the capture
  std::string own;
  std::string at;
  std::string over;
  bool tree = false;
  std::optional<std::uint32_t> depth;
  std::string calls = "own";
  std::string thread;
  std::string grep;
  std::optional<std::uint32_t> top;
  std::string png;
  std::string svg;
  bool dark = false;
};

void AddOptions(CLI::App& app, ShowArguments& arguments) {
  app.add_option("CAPTURE", arguments.capture, kCaptureHelp);
  app.add_option(
      "--by", arguments.by,
      "rows: operator, module, category, category,module, line, category,line, parameter, leaf, range, region, thread, "
      "shape, pool or rank; line: the innermost line of your own Python code; stack: the tree of its callers; region: "
      "code that torch.compile made; compiled: each frame that it compiled, why again, and where graphs broke; "
      "checkpoint: what activation checkpointing of each module would do to the peak; kernel: launches of CUDA "
      "kernels, copies, waits and CUDA graphs; job: the ranks of a job together, from their summaries (memoir "
      "summarize); with --at also segment: the map of a GPU's reserved memory [operator; of a memory snapshot line; of "
      "more than 8 ranks job, but with --json]");
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

bool ByCheckpoint(const ShowArguments& arguments) { return arguments.by == "checkpoint"; }
bool ByCompiled(const ShowArguments& arguments) { return arguments.by == "compiled"; }
bool ByStack(const ShowArguments& arguments) { return arguments.by == "stack"; }
bool ByKernel(const ShowArguments& arguments) { return arguments.by == "kernel"; }
bool BySegment(const ShowArguments& arguments) { return arguments.by == "segment"; }
bool ByJob(const ShowArguments& arguments) { return arguments.by == "job"; }
// Returns true if the arguments select the whole capture.
bool ShowsWhole(const ShowArguments& arguments) {
  return (arguments.at + arguments.over).empty() && !arguments.tree && arguments.takes_all();
}

std::optional<TreeCalls> ParseCalls(std::string_view word) {
  if (word == "own") return TreeCalls::kOwn;
  if (word == "all") return TreeCalls::kAll;
  if (word == "none") return TreeCalls::kNone;
  return std::nullopt;
}

// Describes the first option that is invalid or contradicts another option. "" if all options are valid.
std::string Complaint(const ShowArguments& arguments) {
  if (arguments.capture.empty()) return "no capture given";
  std::vector<std::string> groups;
  for (const GroupingFacts& grouping : kGroupings) groups.emplace_back(grouping.word);
  groups.insert(groups.end(), {"stack", "compiled", "kernel", "segment", "checkpoint", "job"});
  if (BySegment(arguments) && arguments.at.empty()) return "--by segment shows one instant: add --at peak, or a time";
  if (ByCheckpoint(arguments) && !arguments.at.empty())
    return "--by checkpoint is about the peak of a whole window; leave out --at";
  if (ByCompiled(arguments) && !arguments.at.empty())
    return "--by compiled is about a whole window and its peak; leave out --at, or use --by region";
  if (ByStack(arguments) && !arguments.at.empty())
    return "--by stack is about a whole window and its peak; leave out --at, or use --by line";
  if (ByJob(arguments) && !ShowsWhole(arguments)) return "--by job is about a whole job; leave out the other choices";
  if (ByKernel(arguments) && !arguments.at.empty()) return "--by kernel is about a whole window; leave out --at";
  const bool view = BySegment(arguments) || ByCheckpoint(arguments) || ByStack(arguments) || ByCompiled(arguments) ||
                    ByKernel(arguments) || ByJob(arguments);
  if (!view && !arguments.by.empty() && !ParseGroupBy(arguments.by)) {
    const std::string nearest = DidYouMean(arguments.by, groups);
    return fmt::format("--by {}: not one of {}{}", arguments.by, fmt::join(groups, ", "), nearest);
  }
  if (!arguments.at.empty() && !ParseInstantChoice(arguments.at)) {
    return "--at " + arguments.at +
           ": expected peak, end, a time such as 1.5s, 20ms or 1.5 (seconds), mark:NAME or oom";
  }
  const std::vector<std::string> overs = {"time", "operators"};
  if (!arguments.over.empty() && std::ranges::find(overs, arguments.over) == overs.end())
    return "--over " + arguments.over + ": not one of time, operators" + DidYouMean(arguments.over, overs);
  if (const std::string wrong = WindowComplaint(arguments); !wrong.empty()) return wrong;
  if (arguments.chooses_blocks() && (BySegment(arguments) || ByCheckpoint(arguments) || ByCompiled(arguments) ||
                                     ByKernel(arguments) || arguments.over == "operators"))
    return "--module and --min-size choose blocks, but this view does not show blocks; leave them out";
  const auto by = ParseGroupBy(arguments.by);
  if (!arguments.own.empty() && !ByStack(arguments) && !arguments.tree && !(by && NeedsStacks(*by)))
    return "--own works only with lines and calls; add --by line, --by stack or --tree";
  const std::vector<std::string> calls = {"own", "all", "none"};
  if (!ParseCalls(arguments.calls))
    return "--calls " + arguments.calls + ": not one of own, all, none" + DidYouMean(arguments.calls, calls);
  if (arguments.calls != "own" && !arguments.tree) return "--calls works only with --tree; add that";
  const int views = (arguments.at.empty() ? 0 : 1) + (arguments.over.empty() ? 0 : 1) + (arguments.tree ? 1 : 0);
  const bool of_tree = !(arguments.thread + arguments.grep).empty();
  if (of_tree && !arguments.tree) return "--thread and --grep work only with --tree; add that";
  if (arguments.depth && !arguments.tree && !ByStack(arguments)) return "--depth needs --tree or --by stack";
  if (views > 1) return "--at, --over and --tree are different views; give one";
  if (!(arguments.png + arguments.svg).empty() && arguments.over != "time")
    return "--png and --svg draw --over time; add that";
  if (arguments.dark && (arguments.png + arguments.svg).empty()) return "--dark needs --png or --svg";
  const bool stacked = arguments.over == "time" && arguments.by == "category";
  if (!arguments.by.empty() && arguments.by != "operator" && (arguments.tree || !arguments.over.empty()) && !stacked)
    return "--by has no meaning with --tree and --over; --over time --by category alone";
  return "";
}

std::string InstantName(const std::string& at) {
  if (at == "oom") return "the last out-of-memory error";
  return at == "peak" || at == "end" ? "the " + at : at;
}

using ViewText = absl::StatusOr<std::string>;  // a view: analysis, then text or JSON

ViewText ShowSummary(const Capture& capture, const ShowArguments& arguments, const Selection& selection,
                     const Terminal& terminal) {
  SummaryOptions options;
  static_cast<Selection&>(options) = selection;
  options.by = *ParseGroupBy(arguments.by);
  options.checkpointing = options.endings = !arguments.json;  // checkpointing is a separate view there
  const auto summary = AnalyzeSummary(capture, options);
  if (!summary.ok()) return summary.status();
  if (arguments.json) return ToText(SummaryJson(capture, *summary, arguments.top.value_or(0)));
  const bool windowed = selection.window.kind != SelectionWindow::Kind::kAll;
  return ChosenBlocksLine(selection) +
         RenderSummary(capture, *summary, {.top = arguments.top.value_or(10), .windowed = windowed}, terminal);
}

ViewText ShowSegments(const Capture& capture, const ShowArguments& arguments, const Selection& selection,
                      const Terminal& terminal) {
  const auto maps = MapSegments(capture, selection, *ParseInstantChoice(arguments.at));
  if (!maps.ok()) return maps.status();
  if (arguments.json) return ToText(SegmentsJson(capture, *maps, arguments.at));
  constexpr std::uint32_t kSegments = 40;
  return RenderSegments(capture, *maps, InstantName(arguments.at), arguments.top.value_or(kSegments), terminal);
}

ViewText ShowCheckpointing(const Capture& capture, const ShowArguments& arguments, const Selection& selection,
                           const Terminal& terminal) {
  const auto checkpointing = AnalyzeCheckpointing(capture, selection);
  if (!checkpointing.ok()) return checkpointing.status();
  if (arguments.json) return ToText(CheckpointingJson(capture, *checkpointing, arguments.top.value_or(0)));
  if (IsImported(capture)) {
    return RenderProgram(capture, terminal) +
           Wrapped(NotInImport(capture, "tensors, and what backward needs is known by them"), terminal.width, 2) + "\n";
  }
  return RenderCheckpointing(capture, *checkpointing, arguments.top.value_or(10), terminal);
}

ViewText ShowLiveAt(const Capture& capture, const ShowArguments& arguments, const Selection& selection,
                    const Terminal& terminal) {
  LiveBlockTableOptions options;
  static_cast<Selection&>(options) = selection;
  options.at = *ParseInstantChoice(arguments.at);
  options.by = *ParseGroupBy(arguments.by);
  const auto live = AnalyzeLiveBlockTable(capture, options);
  if (!live.ok()) return live.status();
  if (arguments.json) return ToText(LiveBlockTableJson(capture, *live, arguments.at, arguments.top.value_or(0)));
  return ChosenBlocksLine(selection) +
         RenderLiveBlockTable(capture, *live, InstantName(arguments.at), arguments.top.value_or(10), terminal);
}

// A picture has more points than a line of text. One analysis is used for both: the picture's number of points is a
// multiple of the text's number.
ViewText ShowOverTime(const Capture& capture, const ShowArguments& arguments, const Selection& selection,
                      const Terminal& terminal) {
  const bool drawn = !(arguments.png + arguments.svg).empty();
  constexpr std::size_t kJsonBuckets = 100;  // the same on every terminal
  std::size_t shown = arguments.json ? kJsonBuckets : ChartColumns(terminal);
  while (drawn && kPictureBuckets % shown != 0) --shown;
  OverTimeOptions options;
  static_cast<Selection&>(options) = selection;
  options.buckets = drawn ? kPictureBuckets : shown;
  options.categories = arguments.by == "category";
  const auto analyzed = AnalyzeOverTime(capture, options);
  if (!analyzed.ok()) return analyzed.status();
  if (drawn) {
    const absl::Status status = DrawOverTime(capture, *analyzed, {arguments.png, arguments.svg, arguments.dark});
    if (!status.ok()) return status;
  }
  const OverTimeCurves over_time = WithBuckets(*analyzed, shown);
  return arguments.json ? ToText(OverTimeJson(capture, over_time))
                        : ChosenBlocksLine(selection) + RenderOverTime(capture, over_time, terminal);
}

ViewText ShowOverOperators(const Capture& capture, const ShowArguments& arguments, const Selection& selection,
                           const Terminal& terminal) {
  const auto curve = AnalyzeOperatorCurve(capture, selection);
  if (!curve.ok()) return curve.status();
  if (arguments.json) return ToText(OperatorCurveJson(capture, *curve, arguments.top.value_or(0)));
  return RenderOperatorCurve(capture, *curve, arguments.top.value_or(10), terminal);
}

ViewText ShowTree(const Capture& capture, const ShowArguments& arguments, const Selection& selection,
                  const Terminal& terminal) {
  RangeTreeOptions options;
  static_cast<Selection&>(options) = selection;
  if (arguments.json) options.width = SIZE_MAX;
  if (arguments.top) options.width = *arguments.top == 0 ? SIZE_MAX : *arguments.top;
  if (options.width == SIZE_MAX) options.depth = 0;
  if (arguments.depth) options.depth = *arguments.depth;
  constexpr double kShare = 0.005;  // because a person reads the page
  if (!arguments.json && !arguments.top && arguments.grep.empty()) options.share = kShare;
  options.thread = arguments.thread;
  options.grep = arguments.grep;
  options.calls = *ParseCalls(arguments.calls);
  const auto tree = AnalyzeRangeTree(capture, options);
  if (!tree.ok()) return tree.status();
  return arguments.json ? ToText(TreeJson(capture, *tree))
                        : ChosenBlocksLine(selection) + RenderTree(capture, *tree, terminal);
}

ViewText ShowStacks(const Capture& capture, const ShowArguments& arguments, const Selection& selection,
                    const Terminal& terminal) {
  StackTreeOptions options;
  static_cast<Selection&>(options) = selection;
  options.all_frames = arguments.json || arguments.top == 0u;
  const auto tree = AnalyzeStackTree(capture, options);
  if (!tree.ok()) return tree.status();
  if (arguments.json) return ToText(StackTreeJson(capture, *tree));
  StackTextOptions text{.top = arguments.top.value_or(10)};
  if (text.top == 0) text.depth = 0;
  if (arguments.depth) text.depth = *arguments.depth;
  return ChosenBlocksLine(selection) + RenderStackTree(capture, *tree, text, terminal);
}

ViewText ShowCompiled(const Capture& capture, const ShowArguments& arguments, const Selection& selection,
                      const Terminal& terminal) {
  const auto compiled = AnalyzeCompiledFrames(capture, selection);
  if (!compiled.ok()) return compiled.status();
  if (arguments.json) return ToText(CompiledJson(capture, *compiled, arguments.top.value_or(0)));
  return RenderCompiled(capture, *compiled, arguments.top.value_or(10), terminal);
}

ViewText ShowKernels(const Capture& capture, const ShowArguments& arguments, const Selection& selection,
                     const Terminal& terminal) {
  const auto calls = AnalyzeDeviceCalls(capture, selection);
  if (!calls.ok()) return calls.status();
  if (arguments.json) return ToText(DeviceCallsJson(capture, *calls, arguments.top.value_or(0)));
  return RenderDeviceCalls(capture, *calls, arguments.top.value_or(10), terminal);
}

// Chooses a view of the live blocks, because a snapshot contains nothing else.
void ChooseLive(ShowArguments& arguments) {
  if (!arguments.at.empty() || !arguments.over.empty() || arguments.tree) return;
  if (arguments.by.empty()) arguments.by = "category";
  const bool is_a_view_of_its_own = BySegment(arguments) || ByCompiled(arguments) || ByStack(arguments) ||
                                    ByKernel(arguments) || ByCheckpoint(arguments);
  if (!is_a_view_of_its_own) arguments.at = "end";
}

ViewText Show(ShowArguments arguments) {
  // With --json the overview is shown only on request, because programs rely on the keys of the usual document.
  const bool overview = arguments.by.empty() && ShowsWhole(arguments) && !arguments.json;
  if (overview || ByJob(arguments)) {
    const auto job =
        ShowJobOverview({arguments.capture, RunOf(arguments.run), ByJob(arguments), arguments.json, arguments.top},
                        DetectTerminal(STDOUT_FILENO));
    if (!job.ok()) return job.status();
    if (job->has_value()) return **job;
  }
  const auto capture =
      OpenMerged(arguments.capture, [](const std::string& line) { PrintMessage(line); }, RunOf(arguments.run));
  if (!capture.ok()) return capture.status();
  if (IsSnapshot(*capture)) ChooseLive(arguments);
  if (arguments.by.empty()) arguments.by = DefaultGrouping(*capture);
  const Terminal terminal = DetectTerminal(STDOUT_FILENO);
  ProgressLine progress("reading " + arguments.capture);
  Selection selection = SelectionOf(arguments);
  selection.own = arguments.own;
  selection.progress = progress.callback();
  if (const absl::Status status = FindSteps(*capture, selection); !status.ok()) return status;
  if (BySegment(arguments)) return ShowSegments(*capture, arguments, selection, terminal);
  if (ByCompiled(arguments)) return ShowCompiled(*capture, arguments, selection, terminal);
  if (ByStack(arguments)) return ShowStacks(*capture, arguments, selection, terminal);
  if (ByKernel(arguments)) return ShowKernels(*capture, arguments, selection, terminal);
  if (ByCheckpoint(arguments)) return ShowCheckpointing(*capture, arguments, selection, terminal);
  if (!arguments.at.empty()) return ShowLiveAt(*capture, arguments, selection, terminal);
  if (arguments.over == "operators") return ShowOverOperators(*capture, arguments, selection, terminal);
  if (!arguments.over.empty()) return ShowOverTime(*capture, arguments, selection, terminal);
  if (arguments.tree) return ShowTree(*capture, arguments, selection, terminal);
  return ShowSummary(*capture, arguments, selection, terminal);
}

}  // namespace

int ShowVerb(const std::vector<std::string>& arguments) {
  ShowArguments asked;
  const auto app = MakeArguments(kHelp);
  AddOptions(*app, asked);
  if (const auto code = ParseArguments(*app, "show", arguments)) return *code;
  if (const std::string complaint = Complaint(asked); !complaint.empty()) return FailUsage("show", complaint);
  const auto shown = Show(asked);
  if (!shown.ok()) return Fail(shown.status());
  return WriteOutput(asked.brief ? BriefAnswer(*shown, asked, asked.capture) : *shown);
}

}  // namespace memoir
