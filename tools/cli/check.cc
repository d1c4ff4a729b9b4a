// memoir check: findings only, each with the command that shows more.
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "fmt/format.h"
#include "tools/analyze/fragmentation.h"
#include "tools/analyze/summary.h"
#include "tools/cli/arguments.h"
#include "tools/cli/exit_code.h"
#include "tools/cli/message.h"
#include "tools/cli/nearest.h"
#include "tools/cli/progress.h"
#include "tools/cli/ring_merge.h"
#include "tools/cli/typed_path.h"
#include "tools/cli/verbs.h"
#include "tools/view/capture_text.h"
#include "tools/view/fragmentation_view.h"
#include "tools/view/out_of_memory_json.h"
#include "tools/view/out_of_memory_text.h"
#include "tools/view/terminal.h"
#include "tools/view/terminal_text.h"

namespace memoir {
namespace {

const VerbHelp kHelp = {
    .verb = "check",
    .usage = "check [OPTIONS] oom|frag CAPTURE...",
    .description =
        "Look for what went wrong. Exit code 3 where something is found, 0 where nothing is.\n"
        "oom: every out-of-memory error of torch's CUDA allocator, also those that the program caught: which rank, "
        "step, module and operator asked for what; why it failed (fragmentation, a limit, memory that is free but in "
        "another pool, too large, full); who held the bytes; and what had grown since the same operator call of the "
        "step before.\n"
        "frag: memory that torch's CUDA allocator has reserved and nobody can use: how much at most and at the end, in "
        "which pools and streams, and which live blocks keep it. A finding from a tenth of what is reserved, and 64 "
        "MiB, on.",
    .examples =
        "  memoir check oom memoir-20260102-030405\n"
        "  memoir check frag --json run7 | jq '.devices[].peak.unusable_bytes'\n",
};

struct CheckArguments {
  std::vector<std::string> words;  // which check, then the captures
  std::optional<std::uint32_t> top;
  std::optional<std::uint32_t> rank;
  std::string device;
  bool json = false;
};

struct Checked {
  std::string text;
  bool found = false;
};

void AddOptions(CLI::App& app, CheckArguments& arguments) {
  app.add_option("WHAT CAPTURE", arguments.words, "what to look for, then the folder of a capture, or several");
  AddNumber(app, "--top", arguments.top, "names in a list, rows of a table; 0: all [5; all in --json]");
  app.add_option("--device", arguments.device, "only this device: cuda:0");
  AddNumber(app, "--rank", arguments.rank, "only this rank");
  app.add_flag("--json", arguments.json, "exact numbers (docs/json.md); of one capture");
}

absl::StatusOr<Checked> CheckOom(const Capture& capture, const std::string& path, const CheckArguments& arguments,
                                 const SummaryOptions& options, const Terminal& terminal) {
  const auto summary = AnalyzeSummary(capture, options);
  if (!summary.ok()) return summary.status();
  Checked checked;
  checked.found = !summary->out_of_memory.empty();
  if (arguments.json) {
    checked.text = ToText(CheckOutOfMemoryJson(capture, *summary));
  } else if (checked.found) {
    checked.text = RenderWhatRan(capture, terminal) +
                   RenderOutOfMemoryErrors(capture, *summary, arguments.top.value_or(5), terminal) + "\n" +
                   "more: memoir show --at oom --by module " + Escaped(TypedPath(path)) + "\n" +
                   RenderLosses(capture, summary->report, terminal);
  } else {
    checked.text = RenderNoOutOfMemory(capture, *summary, terminal);
  }
  return checked;
}

absl::StatusOr<Checked> CheckFrag(const Capture& capture, const std::string& path, const CheckArguments& arguments,
                                  const Selection& selection, const Terminal& terminal) {
  const auto fragmentation = AnalyzeFragmentation(capture, selection);
  if (!fragmentation.ok()) return fragmentation.status();
  Checked checked;
  checked.found = std::ranges::any_of(fragmentation->devices,
                                      [](const FragmentedDevice& device) { return IsFragmented(device.peak); });
  if (arguments.json) {
    checked.text = ToText(FragmentationJson(capture, *fragmentation));
    return checked;
  }
  checked.text = RenderFragmentation(capture, *fragmentation, arguments.top.value_or(5), terminal);
  if (checked.found) {
    const auto most = std::ranges::max_element(fragmentation->devices, {},
                                               [](const FragmentedDevice& device) { return device.peak.unusable; });
    checked.text =
        RenderWhatRan(capture, terminal) + "\n" + checked.text + "\n" +
        fmt::format("more: memoir show --at {}ns --by segment {}\n", most->peak.ns, Escaped(TypedPath(path))) +
        RenderLosses(capture, fragmentation->report, terminal);
  }
  return checked;
}

absl::StatusOr<Checked> CheckCapture(const std::string& path, const CheckArguments& arguments) {
  const auto capture = OpenMerged(path, [](const std::string& line) { Say(line); });
  if (!capture.ok()) return capture.status();
  Progress progress("reading " + path);
  SummaryOptions options;
  options.progress = progress.callback();
  options.rank = arguments.rank;
  if (!arguments.device.empty()) options.device = arguments.device;
  const Terminal terminal = DetectTerminal(STDOUT_FILENO);
  if (arguments.words.front() == "frag") return CheckFrag(*capture, path, arguments, options, terminal);
  return CheckOom(*capture, path, arguments, options, terminal);
}

std::string Complaint(const CheckArguments& arguments) {
  const std::vector<std::string> checks = {"oom", "frag"};
  if (arguments.words.empty()) return "nothing to check: memoir check oom CAPTURE, memoir check frag CAPTURE";
  const std::string& what = arguments.words.front();
  if (std::ranges::find(checks, what) == checks.end())
    return "'" + what + "' is no check; there are: oom, frag" + DidYouMean(what, checks);
  if (arguments.words.size() < 2) return "no capture given";
  if (arguments.json && arguments.words.size() > 2) return "--json is of one capture; give one";
  return "";
}

}  // namespace

int CheckVerb(const std::vector<std::string>& arguments) {
  CheckArguments asked;
  const auto app = MakeArguments(kHelp);
  AddOptions(*app, asked);
  if (const auto code = ParseArguments(*app, "check", arguments)) return *code;
  if (const std::string complaint = Complaint(asked); !complaint.empty()) return FailUsage("check", complaint);
  const std::vector<std::string> paths(asked.words.begin() + 1, asked.words.end());
  bool found = false;
  std::string text;
  for (const std::string& path : paths) {
    const auto checked = CheckCapture(path, asked);
    if (!checked.ok()) return Fail(checked.status());
    if (paths.size() > 1) text += (text.empty() ? "" : "\n") + Escaped(path) + ":\n";
    text += checked->text;
    found = found || checked->found;
  }
  if (const int failed = WriteOutput(text); failed != kExitFine) return failed;
  return found ? kExitFinding : kExitFine;
}

}  // namespace memoir
