// memoir report: a capture as one HTML file.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/analyze/accounting/balance.h"
#include "tools/analyze/report/report.h"
#include "tools/analyze/segments/fragmentation.h"
#include "tools/cli/arguments/arguments.h"
#include "tools/cli/arguments/selection_arguments.h"
#include "tools/cli/arguments/typed_path.h"
#include "tools/cli/arguments/verbs.h"
#include "tools/cli/attach/ring_merge.h"
#include "tools/cli/installed/install_tree.h"
#include "tools/cli/output/output_file.h"
#include "tools/cli/terminal/exit_code.h"
#include "tools/cli/terminal/message.h"
#include "tools/cli/terminal/progress.h"
#include "tools/view/json/json.h"
#include "tools/view/report/report_facts.h"
#include "tools/view/report/report_page.h"
#include "tools/view/report/report_sections.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

// NOLINTNEXTLINE(bugprone-throwing-static-initialization): before main, with no memory the program is at its end
const VerbHelp kHelp = {
    .verb = "report",
    .usage = "report [OPTIONS] CAPTURE",
    .description =
        "Write a capture as one HTML file to open in a browser: the peak and what it is made of, memory over time with "
        "what is live at any instant, blocks, flame graph, segments, modules and operators (docs/report.md). The file "
        "loads nothing from anywhere and works without a server.",
    .examples =
        "  memoir report run7                   # writes run7.html\n"
        "  memoir report run7 -o /tmp/peak.html --rank 0\n",
};

struct ReportArguments {
  std::string capture;
  std::string output;
  std::string device;
  std::optional<std::uint32_t> rank;
  std::string run = "last";
};

void AddOptions(CLI::App& app, ReportArguments& arguments) {
  app.add_option("CAPTURE", arguments.capture, kCaptureHelp);
  app.add_option("-o,--output", arguments.output, "file to write; -: standard output [the capture's name with .html]");
  app.add_option("--device", arguments.device, "only this device: cpu, pinned, cuda:0");
  AddNumber(app, "--rank", arguments.rank, "only this rank");
  AddRun(app, arguments.run);
}

// What tools/web built, as it lies in this installation.
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

std::vector<ReportFinding> FindWhatChecksFind(const Capture& capture, const Report& report, const Selection& selection,
                                              const std::string& path) {
  const Summary& summary = report.summaries.front();
  Fragmentation fragmentation;
  Balance balance;
  bool gpu = false;
  for (const DeviceRow& device : summary.devices) gpu = gpu || device.caching || device.least_free;
  if (gpu) {
    // Where one of them fails, the report says the rest.
    if (auto found = AnalyzeFragmentation(capture, selection); found.ok()) fragmentation = *std::move(found);
    if (auto found = AnalyzeBalance(capture, selection, At()); found.ok()) balance = *std::move(found);
  } else {
    fragmentation.report = balance.report = summary.report;
  }
  return FindingsOf(capture, report, fragmentation, balance, path);
}

std::string DefaultOutput(const std::string& capture) {
  std::filesystem::path path = std::filesystem::path(capture).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  const std::string name = path.filename().string();
  return (name.empty() || name == "." || name == ".." ? "report" : name) + ".html";
}

absl::Status MakeReport(const ReportArguments& arguments) {
  const absl::StatusOr<std::string> page = ReadPage();
  if (!page.ok()) return page.status();
  const auto capture = OpenMerged(arguments.capture, [](const std::string& line) { Say(line); }, RunOf(arguments.run));
  if (!capture.ok()) return capture.status();
  ReportOptions options;
  options.rank = arguments.rank;
  if (!arguments.device.empty()) options.device = arguments.device;
  Progress progress("reading " + arguments.capture);
  options.progress = progress.callback();
  const Capture::SharedDecoding shared(*capture);
  const absl::StatusOr<Report> report = AnalyzeReport(*capture, options);
  if (!report.ok()) return report.status();
  const std::string path = Escaped(TypedPath(arguments.capture));
  const std::vector<ReportFinding> findings = FindWhatChecksFind(*capture, *report, options, path);
  std::vector<Section> sections = {MakeSection("facts", ToText(ReportFacts(*capture, *report, findings, path))),
                                   MakeSection("tables", ToText(ReportTables(*capture, *report)))};
  for (Section& section : ReportSections(*report)) sections.push_back(std::move(section));
  OutputFile file(arguments.output.empty() ? DefaultOutput(arguments.capture) : arguments.output);
  const absl::Status made =
      WriteReportPage(*page, "Memoir: " + path, sections, [&](std::string_view bytes) { file.Write(bytes); });
  if (!made.ok()) return made;
  if (const absl::Status written = file.Finish(); !written.ok()) return written;
  if (!file.to_stdout()) Say("wrote " + file.path() + " (" + FormatBytes(file.bytes()) + "); open it in a browser");
  return absl::OkStatus();
}

}  // namespace

int ReportVerb(const std::vector<std::string>& arguments) {
  const auto app = MakeArguments(kHelp);
  ReportArguments asked;
  AddOptions(*app, asked);
  if (const auto code = ParseArguments(*app, "report", arguments)) return *code;
  if (asked.capture.empty()) return FailUsage("report", "no capture given: memoir report CAPTURE");
  if (const std::string wrong = RunComplaint(asked.run); !wrong.empty()) return FailUsage("report", wrong);
  const absl::Status status = MakeReport(asked);
  return status.ok() ? kExitFine : Fail(status);
}

}  // namespace memoir
