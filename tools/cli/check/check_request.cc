#include "tools/cli/check/check_request.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/status/statusor.h"
#include "tools/cli/arguments/typed_path.h"
#include "tools/cli/brief/brief_answer.h"
#include "tools/cli/terminal/nearest.h"

namespace memoir {

VerbHelp CheckHelp() {
  return {
      .verb = "check",
      .usage = "check [OPTIONS] [CHECK] CAPTURE...",
      .description =
          "Look for problems in a recording. CHECK is one of those below; without it the first five run, and those "
          "that find nothing "
          "take a "
          "line each. Exit code 3: a check found something, or a condition of --fail-if is true. 0: nothing found. 1: "
          "a capture cannot be read, or a figure of --fail-if is not known; everything else is checked and shown "
          "nevertheless.\n"
          "oom: out-of-memory errors, also those that the program caught, of torch's CUDA allocator and of others "
          "(NCCL, cuBLAS, cudaMalloc, pinned memory). Shows which rank, step, module and operator asked for how much, "
          "why it failed, what used the memory, in torch and outside of it, and what had grown since the step "
          "before.\n"
          "frag: memory that torch's CUDA allocator has reserved and no request can use: how much, in which pools and "
          "streams, and because of which live blocks. Free memory next to a live block counts if the block keeps its "
          "page from going back to the device. A finding if it is a tenth of the reserved memory or more, and at least "
          "64 MiB.\n"
          "balance: memory accounting of a GPU: whether the memory of torch, NCCL, libraries, the context and other "
          "processes adds up to the used memory that the device reports. A finding if more than 1 %, and more than 64 "
          "MiB, are unexplained. Memory from before recording began has a separate row and is no finding "
          "(docs/balance.md).\n"
          "leaks: memory that grows in every step, by line, or by operator and module where no line is known: bytes a "
          "step, since when, and what keeps it; also reserved memory that grows alone. A finding if nearly all steps, "
          "at least five, left something live (at least eight, if only some steps do), and if that is a hundredth of "
          "the peak, or 256 KiB a step for 20 steps (docs/finding_a_leak.md).\n"
          "host: the host's memory of each process: torch's tensors, pinned and shared memory, malloc, the rest; what "
          "its cgroup or the machine has left. A finding if an out-of-memory killer has ended it, if less than a tenth "
          "was left, if it grows to the end, or if malloc keeps a quarter of it (docs/balance.md).\n"
          "ranks: whether each rank of a job is in line with its peers, which called the same modules: peak, reserved "
          "and non-PyTorch memory, growth, steps; what makes the difference and since which step; ranks that are "
          "missing or have other versions. Reads summaries where there are some (docs/ranks.md).\n"
          "With --baseline the recording is compared with another one, such as one of the main branch: a value of "
          "--fail-if that begins with + is added to the baseline's figure. If such a condition is true, the answer of "
          "memoir diff is shown. Other checks run only if they are named. On a simulated GPU figures are the same in "
          "every run (docs/ci.md).\n"
          "Figures of --fail-if: " +
          FiguresOfConditions() + ".",
      .examples =
          "  memoir check --fail-if 'unexplained>1GiB' --fail-if 'peak_reserved>70GiB' run7\n"
          "  memoir check --baseline main --fail-if 'peak_allocated>+1%' --format markdown run7\n",
  };
}

const std::vector<std::string>& CheckNames() {
  static const std::vector<std::string> names = {"oom", "frag", "balance", "leaks", "host"};
  return names;
}

void AddCheckOptions(CLI::App& app, CheckArguments& arguments) {
  app.add_option("WHAT CAPTURE", arguments.words,
                 "the check, then the folder of a capture or a snapshot.pickle, or several");
  app.add_option("--fail-if", arguments.fail_if,
                 "exit code 3 also if this condition is true: FIGURE>VALUE (or >= < <= ==), such as unexplained>1GiB, "
                 "unusable>20%, num_ooms>0, peak_allocated>+1% of the baseline, 'module:layers.*>2GiB', "
                 "category:activation>+64MiB; may be given several times")
      ->allow_extra_args(false);
  app.add_option("--baseline", arguments.baseline, "a capture to compare with: the same program as it was before");
  app.add_option("--format", arguments.format,
                 "format of the conditions: text, markdown (for a comment), github (annotations of a workflow), gitlab "
                 "(a Code Quality report) [text]");
  app.add_option("--at", arguments.at, "balance: at the peak, start, end, oom, a TIME, mark:NAME [peak]");
  AddNumber(app, "--top", arguments.top, "names in a list, rows of a table; 0: all [5; all in --json]");
  AddTimeOptions(app, arguments, "");
  app.add_option("--steps", arguments.steps, kStepsHelp);
  AddBlockOptions(app, arguments, "leaks");
  app.add_option("--device", arguments.device, "only this device: cuda:0");
  AddNumber(app, "--rank", arguments.rank, "only this rank");
  AddRunOption(app, arguments.run);
  AddJson(app, arguments.json, arguments.brief, "exact numbers (docs/json.md); of one capture");
}

namespace {

// A word is a capture if a file of that name exists, or if it cannot be the name of a check.
bool IsCapture(const std::string& word) {
  std::error_code error;
  return word.find('/') != std::string::npos || std::filesystem::exists(word, error);
}

// Describes an argument that the check `ranks` does not accept. Empty if it accepts all arguments.
std::string RanksComplaint(const CheckArguments& arguments) {
  if (!arguments.fail_if.empty() || !arguments.baseline.empty() || arguments.format != "text")
    return "check ranks compares the ranks of one job with each other; leave out --fail-if, --baseline and --format";
  if (!arguments.takes_all() || arguments.at)
    return "check ranks compares whole recordings; leave out the choice of a part of them";
  return "";
}

}  // namespace

std::string UnderstandArguments(const CheckArguments& arguments, CheckRequest& asked) {
  std::vector<std::string> names = CheckNames();
  names.emplace_back(kRanksCheck);
  if (std::string wrong = WindowComplaint(arguments); !wrong.empty()) return wrong;
  if (arguments.words.empty()) return "nothing to check: memoir check CAPTURE, memoir check oom CAPTURE";
  const std::string& what = arguments.words.front();
  const bool named = std::ranges::find(names, what) != names.end();
  if (!named && !IsCapture(what)) {
    return "'" + what +
           "' is no check, nor is a capture of that name here; checks are: oom, frag, balance, leaks, host, ranks" +
           DidYouMean(what, names);
  }
  if (named) asked.check = what;
  asked.paths.assign(arguments.words.begin() + (named ? 1 : 0), arguments.words.end());
  if (asked.paths.empty()) return "no capture given";
  if (asked.check == kRanksCheck) {
    if (std::string wrong = RanksComplaint(arguments); !wrong.empty()) return wrong;
  }
  if (arguments.chooses_blocks() && asked.check != "leaks")
    return "--module and --min-size work only with leaks: memoir check leaks --module PATTERN CAPTURE";
  if (arguments.json && asked.paths.size() > 1) return "--json takes one capture; give one";
  if (arguments.at &&
      (asked.check == "oom" || asked.check == "frag" || asked.check == "leaks" || asked.check == "host"))
    return "--at belongs to memory accounting: memoir check balance --at " + TypedWord(*arguments.at);
  if (arguments.at == "start") {
    asked.at.kind = InstantChoice::Kind::kStart;
  } else if (arguments.at) {
    const std::optional<InstantChoice> at = ParseInstantChoice(*arguments.at);
    const std::string shown = arguments.at->empty() ? "''" : *arguments.at;
    if (!at) return "--at " + shown + ": expected peak, start, end, oom, a time such as 1.5s, or mark:NAME";
    asked.at = *at;
  }
  asked.at_text = arguments.at.value_or(asked.at_text);
  const std::optional<BudgetFormat> format = ParseBudgetFormat(arguments.format);
  if (!format) return "--format " + arguments.format + ": expected text, markdown, github or gitlab";
  asked.format = *format;
  asked.only_conditions = asked.check.empty() && (!arguments.baseline.empty() || *format != BudgetFormat::kText);
  if (arguments.fail_if.empty() && asked.only_conditions) {
    return std::string(arguments.baseline.empty() ? "--format" : "--baseline") +
           " is for conditions: add --fail-if 'peak_allocated>+1%'";
  }
  if (*format != BudgetFormat::kText && asked.paths.size() > 1) return "--format takes one capture; give one";
  std::error_code error;
  if (!arguments.baseline.empty() && arguments.run == "last" &&
      std::filesystem::equivalent(arguments.baseline, asked.paths.front(), error))
    return "the baseline is the capture itself; give the recording of before";
  if (arguments.json && *format != BudgetFormat::kText) return "--json and --format exclude each other";
  for (const std::string& text : arguments.fail_if) {
    absl::StatusOr<FailCondition> condition = ParseFailCondition(text);
    if (!condition.ok()) return std::string(condition.status().message());
    if (condition->relative && arguments.baseline.empty())
      return "--fail-if " + text + ": what is it compared with? Add --baseline CAPTURE";
    asked.conditions.push_back(*std::move(condition));
  }
  return "";
}

}  // namespace memoir
