// memoir report: a capture as one HTML file.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "tools/analyze/accounting/balance.h"
#include "tools/analyze/pass/instant_choice.h"
#include "tools/analyze/pass/joint_replays.h"
#include "tools/analyze/pass/task.h"
#include "tools/analyze/pass/window/step_counter.h"
#include "tools/analyze/report/report_analysis.h"
#include "tools/analyze/report/report_content.h"
#include "tools/analyze/segments/fragmentation.h"
#include "tools/cli/arguments/arguments.h"
#include "tools/cli/arguments/selection_arguments.h"
#include "tools/cli/arguments/typed_path.h"
#include "tools/cli/arguments/verbs.h"
#include "tools/cli/attach/ring_merge.h"
#include "tools/cli/installed/install_tree.h"
#include "tools/cli/output/output_file.h"
#include "tools/cli/terminal/exit_code.h"
#include "tools/cli/terminal/printed_messages.h"
#include "tools/cli/terminal/progress_line.h"
#include "tools/model/parts/process_liveness.h"
#include "tools/view/capture/loss_headlines.h"
#include "tools/view/json/json.h"
#include "tools/view/report/report_facts.h"
#include "tools/view/report/report_page.h"
#include "tools/view/report/report_part.h"
#include "tools/view/report/report_sections.h"
#include "tools/view/report/source_excerpts.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

// NOLINTNEXTLINE(bugprone-throwing-static-initialization): throws only if memory runs out, which ends any program
const VerbHelp kHelp = {
    .verb = "report",
    .usage = "report [OPTIONS] CAPTURE",
    .description =
        "Write a capture as one HTML file to open in a browser: the peak and its parts, memory over time with what is "
        "live at any instant, blocks, flame graph, segments, modules and operators (docs/report.md). The file loads "
        "nothing from anywhere and works without a server. With a window or a choice of blocks, the head of the page "
        "names it, and the numbers equal those in memoir show --json with the same options. With --baseline the flame "
        "graph shows where this capture has more or less memory than another one.",
    .examples =
        "  memoir report run7                   # writes run7.html\n"
        "  memoir report run7 -o /tmp/peak.html --rank 0\n"
        "  memoir report run7 --steps 10:12     # writes run7-steps-10-12.html\n"
        "  memoir report run7 --baseline run6   # writes run7-compared.html\n",
};

struct ReportArguments : SelectionArguments {
  std::string capture;
  std::string output;
  std::string baseline;
  bool no_source = false;
  bool is_of_window() const { return !(steps + from + to).empty(); }
};

void AddOptions(CLI::App& app, ReportArguments& arguments) {
  app.add_option("CAPTURE", arguments.capture, kCaptureHelp);
  app.add_option("-o,--output", arguments.output,
                 "file to write; -: standard output [the capture's name with .html; of a window or of some blocks with "
                 "their options in it]");
  app.add_option(
      "--baseline", arguments.baseline,
      "a capture to compare with (its last run): the flame graph shows the difference at the peak, the other "
      "views the capture alone");
  app.add_flag("--no-source", arguments.no_source, "without the program's text around the lines that hold memory");
  app.add_option("--steps", arguments.steps, kStepsHelp);
  AddTimeOptions(app, arguments, "");
  AddBlockOptions(app, arguments, "");
  app.add_option("--device", arguments.device, "only this device: cpu, pinned, cuda:0");
  AddNumber(app, "--rank", arguments.rank, "only this rank");
  AddRunOption(app, arguments.run);
}

// Reads the page that tools/web built, from this installation.
absl::StatusOr<std::string> ReadPage() {
  const std::filesystem::path path = FindInstallTree().report_page;
  std::ifstream file(path, std::ios::binary);
  std::string page{std::istreambuf_iterator<char>(file), {}};
  if (file.is_open() && !page.empty()) return page;
  return absl::FailedPreconditionError(
      path.string() +
      " is not there: this Memoir was built without Node.js, which its page is built with; install nodejs and npm and "
      "build it again, or install a wheel, which contains the page");
}

// Returns the option with its value as typed, quoted if a shell needs it. "" without a value.
std::string TypedOption(const std::string& option, const std::string& value) {
  return value.empty() ? "" : option + " " + Escaped(TypedWord(value)) + " ";
}

std::string WindowOptions(const ReportArguments& arguments) {
  return TypedOption("--steps", arguments.steps) + TypedOption("--from", arguments.from) +
         TypedOption("--to", arguments.to) + TypedOption("--device", arguments.device) +
         (arguments.rank ? TypedOption("--rank", std::to_string(*arguments.rank)) : "") +
         (arguments.run == "last" ? "" : TypedOption("--run", arguments.run));
}

std::string BlockOptions(const ReportArguments& arguments) {
  return TypedOption("--module", arguments.module) + TypedOption("--min-size", arguments.min_size);
}

// Returns the findings of the checks. All cover the report's time and devices; only the leaks, which are in `report`,
// are limited to the selected blocks. If an analysis failed, its finding contains the error.
std::vector<ReportFinding> RunReportChecks(const Capture& capture, const ReportContent& report,
                                           absl::StatusOr<Fragmentation>& fragmentation,
                                           absl::StatusOr<Balance>& balance, const ReportArguments& arguments) {
  const std::string path = Escaped(TypedPath(arguments.capture)), options = WindowOptions(arguments);
  const Summary& summary = report.summaries.front();
  const auto is_gpu = [](const DeviceRow& device) { return device.caching || device.least_free; };
  if (std::ranges::none_of(summary.devices, is_gpu)) {
    fragmentation = Fragmentation();
    balance = Balance();
    fragmentation->report = balance->report = summary.report;
  }
  return FindingsOf(capture, report, fragmentation, balance, options + path, options + BlockOptions(arguments) + path);
}

// Returns the default name of the report. A report of a part of the capture never has the name of the whole report.
std::string DefaultOutput(const ReportArguments& arguments) {
  std::filesystem::path path = std::filesystem::path(arguments.capture).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  const std::string name = path.filename().string();
  std::string part;
  for (const char c : WindowOptions(arguments) + BlockOptions(arguments)) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.') {
      part += c;
    } else if (!part.empty() && part.back() != '-') {
      part += '-';
    }
  }
  constexpr std::size_t kMostOfPart = 60;
  part = part.substr(0, kMostOfPart);
  while (part.ends_with('-')) part.pop_back();
  return (name.empty() || name == "." || name == ".." ? "report" : name) + (part.empty() ? "" : "-" + part) +
         (arguments.baseline.empty() ? "" : "-compared") + ".html";
}

absl::StatusOr<Capture> Open(const std::string& path, const std::string& run) {
  return OpenMerged(path, [](const std::string& line) { PrintMessage(line); }, RunOf(run));
}

// The report of the last run of the capture with which the page compares, and the losses of this run.
struct Baseline {
  ReportContent report;
  std::string lacks;
};

absl::StatusOr<Baseline> ReadBaseline(const ReportArguments& arguments) {
  const absl::StatusOr<Capture> capture = Open(arguments.baseline, "last");
  if (!capture.ok()) return capture.status();
  ReportOptions options;
  static_cast<Selection&>(options) = SelectionOf(arguments);
  ProgressLine progress("reading " + arguments.baseline);
  options.progress = progress.callback();
  const Capture::SharedDecoding shared(*capture);
  if (const absl::Status status = FindSteps(*capture, options); !status.ok()) return status;
  absl::StatusOr<ReportContent> report = AnalyzeReport(*capture, options);
  if (!report.ok()) return report.status();
  Baseline baseline{*std::move(report), ""};
  for (const LossHeadline& loss : LossHeadlines(*capture, baseline.report.summaries.front().report)) {
    if (!loss.is_loss) continue;
    baseline.lacks += " " + Escaped(TypedPath(arguments.baseline)) + ": " + loss.text + ".";
    PrintMessage(Escaped(TypedPath(arguments.baseline)) + ": " + loss.text);
  }
  return baseline;
}

// Returns the sections of the baseline, and adds its description to `facts`.
absl::StatusOr<std::vector<ReportSection>> CompareWith(const Baseline& baseline, const ReportContent& report,
                                                       const ReportArguments& arguments, Json& facts) {
  facts["baseline"] = nullptr;
  if (arguments.baseline.empty()) return std::vector<ReportSection>();
  std::vector<std::size_t> devices;
  std::vector<ReportSection> sections = BeforeSections(report, baseline.report, &devices);
  if (devices.empty()) {
    return absl::InvalidArgumentError(arguments.baseline + " has none of the devices of " + arguments.capture +
                                      ": there is nothing to compare");
  }
  facts["baseline"] = {
      {"path", Escaped(TypedPath(arguments.baseline))}, {"devices", devices}, {"notes", baseline.lacks}};
  return sections;
}

absl::Status MakeReport(const ReportArguments& arguments) {
  const absl::StatusOr<std::string> page = ReadPage();
  if (!page.ok()) return page.status();
  const absl::StatusOr<Capture> capture = Open(arguments.capture, arguments.run);
  if (!capture.ok()) return capture.status();
  absl::StatusOr<Baseline> baseline = Baseline();
  if (!arguments.baseline.empty()) baseline = ReadBaseline(arguments);
  if (!baseline.ok()) return baseline.status();
  ReportOptions options;
  static_cast<Selection&>(options) = SelectionOf(arguments);
  ProgressLine progress("reading " + arguments.capture);
  options.progress = progress.callback();
  JointReplays replays(*capture, options);
  if (const absl::Status status = FindSteps(*capture, options); !status.ok()) return status;
  SharedCategories categories(replays);
  const Task<absl::StatusOr<ReportContent>> analyze = AnalyzeReport(categories, options);
  const auto find_fragmentation = AnalyzeFragmentation(replays, options.WithAllBlocks());
  const auto find_balance = AnalyzeBalance(replays, options.WithAllBlocks(), InstantChoice());
  const absl::StatusOr<ReportContent>& report = replays.Finish(analyze);
  if (!report.ok()) return report.status();
  const std::string path = Escaped(TypedPath(arguments.capture));
  const ReportPart part = PartOf(*report, options, WindowOptions(arguments) + BlockOptions(arguments));
  const std::vector<ReportFinding> findings =
      RunReportChecks(*capture, *report, replays.Finish(find_fragmentation), replays.Finish(find_balance), arguments);
  Json facts = ReportFacts(*capture, *report, findings, path, part);
  const absl::StatusOr<std::vector<ReportSection>> before = CompareWith(*baseline, *report, arguments, facts);
  if (!before.ok()) return before.status();
  std::vector<ReportSection> sections = {MakeSection("facts", ToText(facts)),
                                         MakeSection("tables", ToText(ReportTables(*capture, *report)))};
  if (!arguments.no_source)
    sections.push_back(MakeSection("sources", ToText(SourceExcerpts(*capture, *report, NameOfThisHost()))));
  for (ReportSection& section : ReportSections(*report)) sections.push_back(std::move(section));
  sections.insert(sections.end(), before->begin(), before->end());
  OutputFile file(arguments.output.empty() ? DefaultOutput(arguments) : arguments.output);
  const std::string title = "Memoir: " + path + (part.text().empty() ? "" : " (part: " + part.text() + ")");
  const absl::Status made = WriteReportPage(*page, title, sections, [&](std::string_view bytes) { file.Write(bytes); });
  if (!made.ok()) return made;
  if (const absl::Status written = file.Finish(); !written.ok()) return written;
  const std::string of = part.text().empty() ? "" : ", of " + part.text();
  if (!file.to_stdout())
    PrintMessage("wrote " + file.path() + " (" + FormatBytes(file.bytes()) + ")" + of + "; open it in a browser");
  return absl::OkStatus();
}

}  // namespace

int ReportVerb(const std::vector<std::string>& arguments) {
  const auto app = MakeArguments(kHelp);
  ReportArguments asked;
  AddOptions(*app, asked);
  if (const auto code = ParseArguments(*app, "report", arguments)) return *code;
  if (asked.capture.empty()) return FailUsage("report", "no capture given: memoir report CAPTURE");
  if (const std::string wrong = WindowComplaint(asked); !wrong.empty()) return FailUsage("report", wrong);
  const absl::Status status = MakeReport(asked);
  return status.ok() ? kExitFine : Fail(status);
}

}  // namespace memoir
