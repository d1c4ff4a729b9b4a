// memoir explain: shows the life of one parameter, of the blocks at an address, or of an operator's results.
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/analyze/lives/explain.h"
#include "tools/analyze/pass/window/step_counter.h"
#include "tools/cli/arguments/arguments.h"
#include "tools/cli/arguments/selection_arguments.h"
#include "tools/cli/arguments/verbs.h"
#include "tools/cli/attach/ring_merge.h"
#include "tools/cli/brief/brief_answer.h"
#include "tools/cli/terminal/exit_code.h"
#include "tools/cli/terminal/nearest.h"
#include "tools/cli/terminal/printed_messages.h"
#include "tools/cli/terminal/progress_line.h"
#include "tools/view/lives/explain_view.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {
namespace {

// NOLINTNEXTLINE(bugprone-throwing-static-initialization): throws only if memory runs out, which ends any program
const VerbHelp kHelp = {
    .verb = "explain",
    .usage = "explain [OPTIONS] CAPTURE SUBJECT",
    .description =
        "Show the life of a block of memory: which operator made it, its category and by which rule, which operators "
        "read it, what keeps it alive, and when it was freed. SUBJECT is a parameter (shown with its gradients and its "
        "optimizer's state), an address, or a call of an operator, counted from 0 (all that was allocated in it).",
    .examples =
        "  memoir explain run7 layers.3.mlp.fc1.weight\n"
        "  memoir explain run7 'aten::mm#12'\n",
};

struct ExplainArguments : SelectionArguments {
  std::string capture;
  std::string subject;
  bool json = false, brief = false;
  std::optional<std::uint32_t> top;
};

void AddOptions(CLI::App& app, ExplainArguments& arguments) {
  app.add_option("CAPTURE", arguments.capture, kCaptureHelp);
  app.add_option("SUBJECT", arguments.subject, "PARAMETER, 0xADDRESS or OPERATOR#n");
  app.add_option("--range", arguments.range, "only inside the user ranges NAME; NAME#n: only its n-th call, from 0");
  app.add_option("--steps", arguments.steps, kStepsHelp);
  AddTimeOptions(app, arguments, "");
  AddBlockOptions(app, arguments, "");
  app.add_option("--device", arguments.device, "only this device: cpu, pinned, cuda:0");
  AddNumber(app, "--rank", arguments.rank, "only this rank");
  AddRunOption(app, arguments.run);
  AddNumber(app, "--top", arguments.top, "blocks shown; 0: all, of more than 1000 the last 1000 [6; all in --json]");
  AddJson(app, arguments.json, arguments.brief, "exact numbers (docs/json.md)");
}

std::string Complaint(const ExplainArguments& arguments) {
  if (arguments.capture.empty()) return "no capture given";
  if (arguments.subject.empty()) return "nothing to explain: name a parameter, an address (0x...) or OPERATOR#n";
  return WindowComplaint(arguments);
}

absl::StatusOr<std::string> ExplanationText(const ExplainArguments& arguments) {
  const auto capture =
      OpenMerged(arguments.capture, [](const std::string& line) { PrintMessage(line); }, RunOf(arguments.run));
  if (!capture.ok()) return capture.status();
  ProgressLine progress("reading " + arguments.capture);
  Selection selection = SelectionOf(arguments);
  selection.progress = progress.callback();
  if (const absl::Status status = FindSteps(*capture, selection); !status.ok()) return status;
  const absl::StatusOr<ExplainSubject> subject = ParseSubject(arguments.subject);
  if (!subject.ok()) return subject.status();
  std::vector<std::string> parameters;
  const auto explanation = ExplainBlocks(*capture, selection, *subject, &parameters);
  if (absl::IsNotFound(explanation.status())) {
    return absl::NotFoundError(absl::StrCat(explanation.status().message(), DidYouMean(arguments.subject, parameters)));
  }
  if (!explanation.ok()) return explanation.status();
  if (arguments.json) return ToText(ExplanationJson(*capture, *explanation));
  constexpr std::uint32_t kStories = 6;
  return RenderExplanation(*capture, *explanation, arguments.top.value_or(kStories), DetectTerminal(STDOUT_FILENO));
}

}  // namespace

int ExplainVerb(const std::vector<std::string>& arguments) {
  ExplainArguments asked;
  const auto app = MakeArguments(kHelp);
  AddOptions(*app, asked);
  if (const auto code = ParseArguments(*app, "explain", arguments)) return *code;
  if (const std::string complaint = Complaint(asked); !complaint.empty()) return FailUsage("explain", complaint);
  const auto explained = ExplanationText(asked);
  if (!explained.ok()) return Fail(explained.status());
  return WriteOutput(asked.brief ? BriefAnswer(*explained, asked, asked.capture) : *explained);
}

}  // namespace memoir
