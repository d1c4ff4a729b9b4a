// memoir check: findings only, each with the command that shows more.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "fmt/format.h"
#include "tools/analyze/accounting/balance.h"
#include "tools/analyze/segments/fragmentation.h"
#include "tools/analyze/summary/summary.h"
#include "tools/cli/arguments/arguments.h"
#include "tools/cli/arguments/selection_arguments.h"
#include "tools/cli/arguments/typed_path.h"
#include "tools/cli/arguments/verbs.h"
#include "tools/cli/attach/ring_merge.h"
#include "tools/cli/check/fail_if.h"
#include "tools/cli/terminal/exit_code.h"
#include "tools/cli/terminal/message.h"
#include "tools/cli/terminal/nearest.h"
#include "tools/cli/terminal/progress.h"
#include "tools/view/accounting/balance_view.h"
#include "tools/view/capture/capture_text.h"
#include "tools/view/capture/unrecorded_text.h"
#include "tools/view/oom/out_of_memory_json.h"
#include "tools/view/oom/out_of_memory_text.h"
#include "tools/view/segments/fragmentation_view.h"
#include "tools/view/terminal/terminal.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

VerbHelp Help() {
  return {
      .verb = "check",
      .usage = "check [OPTIONS] [oom|frag|balance] CAPTURE...",
      .description =
          "Look for problems in a recording. Without a name all three checks run, and those that find nothing take a "
          "line each. Exit code 3: a check found something, or a condition of --fail-if is true. 0: nothing found. 1: "
          "a capture cannot be read, or a figure of --fail-if is not known; everything else is checked and shown "
          "nevertheless.\n"
          "oom: out-of-memory errors, also those that the program caught, of torch's CUDA allocator and of others "
          "(NCCL, cuBLAS, cudaMalloc, pinned memory). Shows which rank, step, module and operator asked for how much, "
          "why it failed, what used the memory, in torch and outside of it, and what had grown since the step "
          "before.\n"
          "frag: memory that torch's CUDA allocator has reserved and nobody can use: how much, in which pools and "
          "streams, and because of which live blocks. Free memory next to a live block counts if the block keeps its "
          "page from going back to the device. A finding if it is a tenth of the reserved memory or more, and at least "
          "64 MiB.\n"
          "balance: memory accounting of a GPU: whether the memory of torch, NCCL, libraries, the context and other "
          "processes adds up to what the device says is used. A finding if more than 1 %, and more than 64 MiB, are "
          "unexplained. Memory from before recording began has a row of its own and is no finding (docs/balance.md).\n"
          "Figures of --fail-if: " +
          FailIfFigures() + ".",
      .examples =
          "  memoir check memoir-20260102-030405\n"
          "  memoir check --fail-if 'unexplained>1GiB' --fail-if 'peak_reserved>70GiB' run7\n",
  };
}

struct CheckArguments {
  std::vector<std::string> words;  // which check, then the captures
  std::vector<std::string> fail_if;
  std::optional<std::string> at;
  std::optional<std::uint32_t> top;
  std::optional<std::uint32_t> rank;
  std::string run = "last";
  std::string device;
  bool json = false;
};

// What was asked for, once it is known to make sense.
struct Asked {
  std::string check;  // "": all
  std::vector<std::string> paths;
  std::vector<FailIf> conditions;
  At at;
  std::string at_text = "peak";
};

struct Checked {
  std::string text;
  Json json;
  bool found = false;
  std::vector<std::string> failures;  // what could not be checked, a line each
};

const std::vector<std::string>& CheckNames() {
  static const std::vector<std::string> names = {"oom", "frag", "balance"};
  return names;
}

void AddOptions(CLI::App& app, CheckArguments& arguments) {
  app.add_option("WHAT CAPTURE", arguments.words, "the check, then the folder of a capture, or several");
  app.add_option("--fail-if", arguments.fail_if,
                 "exit code 3 also if this condition is true: FIGURE>VALUE (or >= < <= ==), such as unexplained>1GiB, "
                 "unusable>20%, num_ooms>0; may be given several times")
      ->allow_extra_args(false);
  app.add_option("--at", arguments.at, "balance: at the peak, start, end, oom, a TIME, mark:NAME [peak]");
  AddNumber(app, "--top", arguments.top, "names in a list, rows of a table; 0: all [5; all in --json]");
  app.add_option("--device", arguments.device, "only this device: cuda:0");
  AddNumber(app, "--rank", arguments.rank, "only this rank");
  AddRun(app, arguments.run);
  app.add_flag("--json", arguments.json, "exact numbers (docs/json.md); of one capture");
}

// One capture and what was found out about it; each analysis runs when it is first wanted.
class Analyses {
 public:
  Analyses(const Capture& capture, SummaryOptions options, At at)
      : capture_(capture), options_(std::move(options)), at_(std::move(at)) {}
  const Capture& capture() const { return capture_; }
  const std::optional<std::string>& device() const { return options_.device; }
  absl::StatusOr<Summary>& summary() {
    if (!summary_) summary_.emplace(AnalyzeSummary(capture_, options_));
    return *summary_;
  }
  absl::StatusOr<Fragmentation>& fragmentation() {
    if (!fragmentation_) fragmentation_.emplace(AnalyzeFragmentation(capture_, options_));
    return *fragmentation_;
  }
  absl::StatusOr<Balance>& balance() {
    if (!balance_) balance_.emplace(AnalyzeBalance(capture_, options_, at_));
    return *balance_;
  }

 private:
  const Capture& capture_;
  const SummaryOptions options_;
  const At at_;
  std::optional<absl::StatusOr<Summary>> summary_;
  std::optional<absl::StatusOr<Fragmentation>> fragmentation_;
  std::optional<absl::StatusOr<Balance>> balance_;
};

struct Shown {
  const CheckArguments& arguments;
  const Asked& asked;
  std::string path;  // as it can be typed
  Terminal terminal;
  std::size_t top() const { return arguments.top.value_or(5); }
};

// One line for all devices.
std::string NoOutOfMemoryLine(const Summary& summary) {
  std::optional<std::uint64_t> least;
  for (const DeviceRow& device : summary.devices) {
    if (device.least_free) least = std::min(least.value_or(*device.least_free), *device.least_free);
  }
  return NoOutOfMemoryKnown(summary.report) +
         (least ? "; at least " + FormatBytes(*least) + " were free on a GPU" : "") + "\n";
}

std::string LittleUnusableLine(const Fragmentation& fragmentation) {
  const std::string unknown = CudaMemoryNotKnown(fragmentation.report);
  if (fragmentation.devices.empty() && !unknown.empty()) return "not known: " + unknown + "\n";
  if (fragmentation.devices.empty()) return "nothing was reserved by torch's CUDA allocator\n";
  const auto most = std::ranges::max_element(fragmentation.devices, {},
                                             [](const FragmentedDevice& device) { return device.peak.unusable; });
  return fmt::format("at most {} of {} reserved were unusable{}\n", FormatBytes(most->peak.unusable),
                     FormatBytes(most->peak.reserved), unknown.empty() ? "" : ", as far as recorded: " + unknown);
}

absl::StatusOr<Checked> CheckOom(Analyses& analyses, const Shown& shown, bool brief) {
  const auto& summary = analyses.summary();
  if (!summary.ok()) return summary.status();
  Checked checked;
  checked.found = CountOutOfMemory(*summary) > 0;
  if (shown.arguments.json) checked.json = CheckOutOfMemoryJson(analyses.capture(), *summary);
  if (checked.found) {
    checked.text = RenderOutOfMemoryErrors(analyses.capture(), *summary, shown.top(), shown.terminal);
    // Of an error of torch's own allocator all live blocks are known; of the others, who held the device.
    const bool of_torch = std::ranges::any_of(summary->out_of_memory,
                                              [](const OutOfMemory& error) { return !error.refusal.has_value(); });
    if (!summary->out_of_memory.empty())
      checked.text +=
          (of_torch ? "\nmore: memoir show --at oom --by module " : "\nmore: memoir check balance --at oom ") +
          shown.path + "\n";
    if (std::ranges::any_of(summary->devices, [](const DeviceRow& row) { return row.checkpointing.has_value(); }))
      checked.text += "more: memoir show --by checkpoint " + shown.path + "\n";
  } else {
    checked.text =
        brief ? NoOutOfMemoryLine(*summary) : RenderNoOutOfMemory(analyses.capture(), *summary, shown.terminal);
  }
  return checked;
}

absl::StatusOr<Checked> CheckFrag(Analyses& analyses, const Shown& shown, bool brief) {
  const auto& fragmentation = analyses.fragmentation();
  if (!fragmentation.ok()) return fragmentation.status();
  Checked checked;
  checked.found = std::ranges::any_of(fragmentation->devices,
                                      [](const FragmentedDevice& device) { return IsFragmented(device.peak); });
  if (shown.arguments.json) checked.json = FragmentationJson(analyses.capture(), *fragmentation);
  checked.text = RenderFragmentation(analyses.capture(), *fragmentation, shown.top(), shown.terminal);
  if (!checked.found && brief) checked.text = LittleUnusableLine(*fragmentation);
  if (!checked.found) return checked;
  const auto most = std::ranges::max_element(fragmentation->devices, {},
                                             [](const FragmentedDevice& device) { return device.peak.unusable; });
  checked.text = "\n" + checked.text + "\n" +
                 fmt::format("more: memoir show --at {}ns --by segment {}\n", most->peak.ns, shown.path);
  return checked;
}

// Which sample the figures are from.
std::string MomentName(const std::string& at) {
  if (at == "peak") return "its fullest sample";
  if (at == "start") return "its first sample";
  if (at == "end") return "its last sample";
  if (at == "oom") return "its last refused allocation";
  return "the newest sample before " + at + ",";
}

absl::StatusOr<Checked> CheckBalance(Analyses& analyses, const Shown& shown, bool brief) {
  const auto& balance = analyses.balance();
  if (!balance.ok()) return balance.status();
  Checked checked;
  checked.found = std::ranges::any_of(balance->devices, [](const DeviceBalance& device) { return device.IsFinding(); });
  if (shown.arguments.json) checked.json = BalanceJson(analyses.capture(), *balance);
  if (brief && !checked.found) {
    checked.text = BalanceLine(analyses.capture(), *balance) + "\n";
    return checked;
  }
  BalanceShown how;
  const std::string moment = MomentName(shown.asked.at_text);
  how.moment = moment;
  if (shown.arguments.top) how.top = *shown.arguments.top;
  if (shown.arguments.top == 0u) how.tables = 0;
  checked.text = RenderBalance(analyses.capture(), *balance, how, shown.terminal);
  const bool asked_for_start = shown.asked.at_text == "start";
  if (checked.found)
    checked.text =
        "\n" + checked.text +
        fmt::format("\nmore: memoir check balance --at {} {}\n", asked_for_start ? "end" : "start", shown.path);
  return checked;
}

absl::StatusOr<Checked> RunCheck(const std::string& name, Analyses& analyses, const Shown& shown, bool brief) {
  if (name == "oom") return CheckOom(analyses, shown, brief);
  if (name == "frag") return CheckFrag(analyses, shown, brief);
  return CheckBalance(analyses, shown, brief);
}

// What is said of a condition: "" where it does not hold, and nothing could change that.
std::string ConditionLine(const Verdict& verdict) {
  if (!verdict.holds) return "not known: " + verdict.why;
  if (verdict.sure) return *verdict.holds ? "holds" : "";
  return (*verdict.holds ? "holds for what was recorded: " : "does not hold for what was recorded: ") + verdict.why;
}

absl::Status AddConditions(Analyses& analyses, const Shown& shown, Checked& checked) {
  checked.json["fail_if"] = Json::array();
  for (const FailIf& condition : shown.asked.conditions) {
    for (const absl::Status& status :
         {analyses.summary().status(), analyses.fragmentation().status(), analyses.balance().status()}) {
      if (!status.ok()) return status;
    }
    const Verdict verdict = Judge(condition, {analyses.capture(), analyses.device(), *analyses.summary(),
                                              *analyses.fragmentation(), *analyses.balance()});
    checked.json["fail_if"].push_back({{"condition", condition.text},
                                       {"holds", verdict.holds ? Json(*verdict.holds) : Json(nullptr)},
                                       {"sure", verdict.sure},
                                       {"why", verdict.why}});
    const std::string line = "--fail-if " + Escaped(condition.text) + ": " + ConditionLine(verdict);
    if (!verdict.holds) checked.failures.push_back(line);
    if (verdict.holds && !line.ends_with(": ")) checked.text += Wrapped(line, shown.terminal.width, 0) + "\n";
    checked.found = checked.found || verdict.holds.value_or(false);
  }
  return absl::OkStatus();
}

absl::StatusOr<Checked> RunChecks(Analyses& analyses, const Shown& shown) {
  const bool all = shown.asked.check.empty();
  Checked result;
  if (all) result.json = {{"version", 1}, {"capture", analyses.capture().path()}, {"view", "check"}};
  for (const std::string& name : CheckNames()) {
    if (!all && name != shown.asked.check) continue;
    absl::StatusOr<Checked> checked = RunCheck(name, analyses, shown, all);
    if (!checked.ok()) return checked.status();
    const bool fine = all && !checked->found;
    result.text += fine ? Painted(shown.terminal, Color::kGreen, PaddedRight(name, 8)) + checked->text : checked->text;
    result.found = result.found || checked->found;
    if (all) result.json[name] = std::move(checked->json);
    if (!all) result.json = std::move(checked->json);
  }
  absl::Status status = AddConditions(analyses, shown, result);
  if (!status.ok()) return status;
  if (all) result.json["found"] = result.found;
  return result;
}

absl::StatusOr<Checked> CheckCapture(const std::string& path, const CheckArguments& arguments, const Asked& asked) {
  const auto capture = OpenMerged(path, [](const std::string& line) { Say(line); }, RunOf(arguments.run));
  if (!capture.ok()) return capture.status();
  Progress progress("reading " + path);
  SummaryOptions options;
  options.progress = progress.callback();
  options.rank = arguments.rank;
  if (!arguments.device.empty()) options.device = arguments.device;
  const Capture::SharedDecoding shared(*capture);
  Analyses analyses(*capture, options, asked.at);
  const Shown shown{arguments, asked, Escaped(TypedPath(path)), DetectTerminal(STDOUT_FILENO)};
  absl::StatusOr<Checked> checked = RunChecks(analyses, shown);
  if (!checked.ok()) return checked.status();
  if (arguments.json) {
    checked->text = ToText(checked->json);
    return checked;
  }
  const auto& summary = analyses.summary();
  if (!summary.ok()) return summary.status();
  const std::string losses = RenderLosses(*capture, summary->report, shown.terminal);
  const bool in_full = checked->found || asked.check == "balance";
  if (in_full) checked->text = RenderWhatRan(*capture, shown.terminal) + checked->text;
  // Nothing was found in what is left: that is no clean bill.
  if (in_full || losses != kNothingLost) checked->text += losses;
  return checked;
}

// A word is a capture where something of that name is there, or it can be no check's.
bool IsCapture(const std::string& word) {
  std::error_code error;
  return word.find('/') != std::string::npos || std::filesystem::exists(word, error);
}

// What is wrong with the arguments; "" when all is well.
std::string Understand(const CheckArguments& arguments, Asked& asked) {
  const std::vector<std::string>& names = CheckNames();
  if (std::string wrong = RunComplaint(arguments.run); !wrong.empty()) return wrong;
  if (arguments.words.empty()) return "nothing to check: memoir check CAPTURE, memoir check oom CAPTURE";
  const std::string& what = arguments.words.front();
  const bool named = std::ranges::find(names, what) != names.end();
  if (!named && !IsCapture(what)) {
    return "'" + what + "' is no check, nor is a capture of that name here; checks are: oom, frag, balance" +
           DidYouMean(what, names);
  }
  if (named) asked.check = what;
  asked.paths.assign(arguments.words.begin() + (named ? 1 : 0), arguments.words.end());
  if (asked.paths.empty()) return "no capture given";
  if (arguments.json && asked.paths.size() > 1) return "--json is of one capture; give one";
  if (arguments.at && (asked.check == "oom" || asked.check == "frag"))
    return "--at belongs to memory accounting: memoir check balance --at " + *arguments.at;
  if (arguments.at == "start") {
    asked.at.kind = At::Kind::kStart;
  } else if (arguments.at) {
    const std::optional<At> at = ParseAt(*arguments.at);
    const std::string shown = arguments.at->empty() ? "''" : *arguments.at;
    if (!at) return "--at " + shown + ": expected peak, start, end, oom, a time such as 1.5s, or mark:NAME";
    asked.at = *at;
  }
  asked.at_text = arguments.at.value_or(asked.at_text);
  for (const std::string& text : arguments.fail_if) {
    absl::StatusOr<FailIf> condition = ParseFailIf(text);
    if (!condition.ok()) return std::string(condition.status().message());
    asked.conditions.push_back(*std::move(condition));
  }
  return "";
}

}  // namespace

int CheckVerb(const std::vector<std::string>& arguments) {
  CheckArguments given;
  const VerbHelp help = Help();
  const auto app = MakeArguments(help);
  AddOptions(*app, given);
  if (const auto code = ParseArguments(*app, "check", arguments)) return *code;
  Asked asked;
  if (const std::string complaint = Understand(given, asked); !complaint.empty()) return FailUsage("check", complaint);
  bool found = false, failed = false;
  std::string text;
  for (const std::string& path : asked.paths) {
    const auto checked = CheckCapture(path, given, asked);
    if (!checked.ok()) {
      // The others are looked at all the same.
      Fail(checked.status());
      failed = true;
      continue;
    }
    if (asked.paths.size() > 1) text += (text.empty() ? "" : "\n") + Escaped(path) + ":\n";
    text += checked->text;
    for (const std::string& line : checked->failures) Say(asked.paths.size() > 1 ? path + ": " + line : line);
    found = found || checked->found;
    failed = failed || !checked->failures.empty();
  }
  if (const int code = WriteOutput(text); code != kExitFine) return code;
  // What could not be checked may be worse than what was found.
  if (failed) return kExitError;
  return found ? kExitFinding : kExitFine;
}

}  // namespace memoir
