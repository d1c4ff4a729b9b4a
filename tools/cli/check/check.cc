// memoir check: prints findings, each with the command that shows more, and one line for each check without a finding.
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/window/step_counter.h"
#include "tools/analyze/summary/summary.h"
#include "tools/cli/arguments/arguments.h"
#include "tools/cli/arguments/selection_arguments.h"
#include "tools/cli/arguments/typed_path.h"
#include "tools/cli/arguments/verbs.h"
#include "tools/cli/attach/ring_merge.h"
#include "tools/cli/brief/brief_answer.h"
#include "tools/cli/check/baseline.h"
#include "tools/cli/check/budget_report.h"
#include "tools/cli/check/check_analyses.h"
#include "tools/cli/check/check_ranks.h"
#include "tools/cli/check/check_request.h"
#include "tools/cli/check/fail_condition.h"
#include "tools/cli/check/held_figures.h"
#include "tools/cli/terminal/exit_code.h"
#include "tools/cli/terminal/printed_messages.h"
#include "tools/cli/terminal/progress_line.h"
#include "tools/view/capture/capture_text.h"
#include "tools/view/capture/loss_headlines.h"
#include "tools/view/terminal/terminal.h"
#include "tools/view/terminal/terminal_text.h"

namespace memoir {
namespace {

// Returns the result of a condition, such as "FAILED, it is 1.4 GiB" or "passed, it is 0". Adds a remark if missing
// data could change the result.
std::string ConditionLine(const ConditionResult& verdict) {
  if (!verdict.holds) return "not known: " + verdict.why;
  const std::string said = (*verdict.holds ? "FAILED, it is " : "passed, it is ") + verdict.figure;
  return verdict.sure ? said : said + " in what was recorded: " + verdict.why;
}

// Call it after RunFigures, which runs the analyses.
FigureSources FiguresOf(CheckAnalyses& analyses) {
  return {analyses.capture(),
          analyses.device(),
          *analyses.summary(),
          *analyses.fragmentation(),
          *analyses.balance(),
          [&analyses](std::string_view figure, const std::string& of) {
            return figure == "module" ? MostOfModules(analyses.capture(), analyses.options(), of)
                                      : CategoryAtPeak(analyses.capture(), analyses.options(), of);
          }};
}

absl::Status RunFigures(CheckAnalyses& analyses) {
  for (const absl::Status& status :
       {analyses.summary().status(), analyses.fragmentation().status(), analyses.balance().status()}) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Describes the first loss of recorded data. Empty if nothing was lost.
std::string Loss(CheckAnalyses& analyses) {
  const std::vector<LossHeadline> lines = LossHeadlines(analyses.capture(), analyses.summary()->report);
  const auto loss = std::ranges::find_if(lines, &LossHeadline::is_loss);
  return loss == lines.end() ? "" : loss->text;
}

// Returns the line of a check without findings, for an output with several checks. Wrapped to the terminal's width.
std::string FineLine(const std::string& name, std::string text, const Terminal& terminal) {
  constexpr std::size_t kIndent = 8;
  text.erase(text.find_last_not_of('\n') + 1);
  std::ranges::replace(text, '\n', ' ');  // the text may already be wrapped for another indentation
  return Painted(terminal, Color::kGreen, PaddedRight(name, kIndent)) + Wrapped(text, terminal.width, kIndent) + "\n";
}

// `baseline`: nullptr without --baseline.
absl::Status AddConditions(CheckAnalyses& analyses, CheckAnalyses* baseline, const CheckContext& shown,
                           CheckResult& checked) {
  checked.json["fail_if"] = Json::array();
  if (shown.asked.conditions.empty()) return absl::OkStatus();
  absl::Status status = RunFigures(analyses);
  if (status.ok() && baseline != nullptr) status = RunFigures(*baseline);
  if (!status.ok()) return status;
  const FigureSources figures = FiguresOf(analyses);
  std::optional<FigureSources> before;
  if (baseline != nullptr) before.emplace(FiguresOf(*baseline));
  const std::string lost = Loss(analyses);
  for (const FailCondition& condition : shown.asked.conditions) {
    ConditionResult verdict = JudgeCondition(condition, figures, before ? &*before : nullptr);
    // If only conditions are checked (a budget), a condition passes only if the recording is complete.
    const std::string& doubt = verdict.sure ? lost : verdict.why;
    if (shown.asked.only_conditions && verdict.holds == false && !doubt.empty())
      verdict = {std::nullopt, false, "it is " + verdict.figure + " in what was recorded, but: " + doubt, ""};
    checked.json["fail_if"].push_back({{"condition", condition.text},
                                       {"holds", verdict.holds ? Json(*verdict.holds) : Json(nullptr)},
                                       {"sure", verdict.sure},
                                       {"why", verdict.why}});
    const std::string line = "--fail-if " + Escaped(condition.text) + ": " + ConditionLine(verdict);
    if (!verdict.holds) checked.failures.push_back(line);
    if (verdict.holds && shown.asked.format == BudgetFormat::kText)
      checked.text += Wrapped(line, shown.terminal.width, 0) + "\n";
    const bool grew = condition.relative && verdict.holds.value_or(false);
    checked.budget.lines.push_back({condition.text, verdict.holds, ConditionLine(verdict), grew});
    checked.found = checked.found || verdict.holds.value_or(false);
    checked.grew = checked.grew || grew;
  }
  return absl::OkStatus();
}

// Starts all wanted analyses before the first of them runs, so that they share replays. The analysis of leaks starts
// first, because it finds the categories of blocks. The summary starts after it, so that the summary takes the library
// workspaces from these categories. The summary always starts, because its report lists the missing parts of the
// recording.
void StartAnalyses(CheckAnalyses& analyses, const CheckContext& shown) {
  const bool all = shown.asked.check.empty();
  if (!shown.asked.only_conditions) {
    for (const std::string_view name : {"leaks", "oom", "frag", "host", "balance"}) {
      if (all || name == shown.asked.check) analyses.Start(name);
    }
  }
  analyses.Start("oom");
  if (!shown.asked.conditions.empty()) analyses.StartFigures();
}

absl::StatusOr<CheckResult> RunChecks(CheckAnalyses& analyses, CheckAnalyses* baseline, const CheckContext& shown) {
  const bool all = shown.asked.check.empty();
  StartAnalyses(analyses, shown);
  if (baseline != nullptr) baseline->StartFigures();
  CheckResult result;
  if (all) result.json = {{"version", 1}, {"capture", analyses.capture().path()}, {"view", "check"}};
  for (const std::string& name : CheckNames()) {
    if ((!all && name != shown.asked.check) || shown.asked.only_conditions) continue;
    absl::StatusOr<CheckResult> checked = RunCheck(name, analyses, shown, all);
    if (!checked.ok()) return checked.status();
    const bool fine = all && !checked->found;
    result.text += fine ? FineLine(name, checked->text, shown.terminal) : checked->text;
    result.found = result.found || checked->found;
    if (all) result.json[name] = std::move(checked->json);
    if (!all) result.json = std::move(checked->json);
  }
  absl::Status status = AddConditions(analyses, baseline, shown, result);
  if (!status.ok()) return status;
  if (all) result.json["found"] = result.found;
  return result;
}

absl::StatusOr<CheckResult> CheckCapture(const std::string& path, const CheckArguments& arguments,
                                         const CheckRequest& asked) {
  const auto capture = OpenMerged(path, [](const std::string& line) { PrintMessage(line); }, RunOf(arguments.run));
  if (!capture.ok()) return capture.status();
  ProgressLine progress("reading " + path);
  SummaryOptions options;
  static_cast<Selection&>(options) = SelectionOf(arguments);
  options.progress = progress.callback();
  const Capture::SharedDecoding shared(*capture);
  if (const absl::Status status = FindSteps(*capture, options); !status.ok()) return status;
  CheckAnalyses analyses(*capture, options, asked.at);
  // If a run was selected, printed commands have --run before the path. Without --run, they would show the last run.
  const std::string run = arguments.run == "last" ? "" : "--run " + arguments.run + " ";
  const CheckContext shown{arguments, asked, run + Escaped(TypedPath(path)), DetectTerminal(STDOUT_FILENO)};
  std::optional<Baseline> baseline;
  if (!arguments.baseline.empty()) {
    absl::StatusOr<Baseline> opened = OpenBaseline(arguments, asked.at);
    if (!opened.ok()) return opened.status();
    baseline.emplace(*std::move(opened));
  }
  absl::StatusOr<CheckResult> checked = RunChecks(analyses, baseline ? baseline->analyses.get() : nullptr, shown);
  if (!checked.ok()) return checked.status();
  checked->budget.capture = path;
  if (baseline && (checked->grew || arguments.json || asked.format != BudgetFormat::kText)) {
    const absl::Status status = AddComparison(*baseline, analyses, arguments, path, shown, *checked);
    if (!status.ok()) return status;
  }
  if (baseline) checked->json["baseline"] = {{"capture", arguments.baseline}, {"headline", checked->budget.headline}};
  if (asked.format != BudgetFormat::kText) {
    checked->text = Render(checked->budget, asked.format);
    return checked;
  }
  if (arguments.json) {
    checked->text = ToText(checked->json);
    if (arguments.brief) checked->text = BriefAnswer(checked->text, arguments, path);
    return checked;
  }
  if (!asked.check.empty() && arguments.chooses_blocks()) checked->text = ChosenBlocksLine(options) + checked->text;
  const auto& summary = analyses.summary();
  if (!summary.ok()) return summary.status();
  const std::string losses = RenderLosses(*capture, summary->report, shown.terminal);
  const bool in_full = (checked->found && !asked.only_conditions) || asked.check == "balance";
  if (in_full) checked->text = RenderProgram(*capture, shown.terminal) + checked->text;
  // Losses are printed even if nothing was found, because the lost parts may contain findings.
  if (in_full || losses != kNothingLost) checked->text += losses;
  return checked;
}

}  // namespace

int CheckVerb(const std::vector<std::string>& arguments) {
  CheckArguments given;
  const VerbHelp help = CheckHelp();
  const auto app = MakeArguments(help);
  AddCheckOptions(*app, given);
  if (const auto code = ParseArguments(*app, "check", arguments)) return *code;
  CheckRequest asked;
  if (const std::string complaint = UnderstandArguments(given, asked); !complaint.empty())
    return FailUsage("check", complaint);
  bool found = false, failed = false;
  std::string text;
  for (const std::string& path : asked.paths) {
    const auto checked = asked.check == kRanksCheck ? CheckRanks(path, given) : CheckCapture(path, given, asked);
    if (!checked.ok()) {
      // The other captures are checked nevertheless.
      Fail(checked.status());
      failed = true;
      continue;
    }
    if (asked.paths.size() > 1) text += (text.empty() ? "" : "\n") + Escaped(path) + ":\n";
    text += checked->text;
    for (const std::string& line : checked->failures) PrintMessage(asked.paths.size() > 1 ? path + ": " + line : line);
    found = found || checked->found;
    failed = failed || !checked->failures.empty();
  }
  if (const int code = WriteOutput(text); code != kExitFine) return code;
  // A failed check may have missed findings.
  if (failed) return kExitError;
  return found ? kExitFinding : kExitFine;
}

}  // namespace memoir
