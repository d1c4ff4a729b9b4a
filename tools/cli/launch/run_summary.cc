#include "tools/cli/launch/run_summary.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include "tools/analyze/host/host_memory.h"
#include "tools/analyze/summary/peak_holders.h"
#include "tools/cli/arguments/typed_path.h"
#include "tools/cli/attach/ring_merge.h"
#include "tools/cli/installed/install_tree.h"
#include "tools/cli/ranks/own_summaries.h"
#include "tools/cli/terminal/message.h"
#include "tools/cli/terminal/progress.h"
#include "tools/view/host/host_view.h"
#include "tools/view/summary/run_summary_text.h"
#include "tools/view/terminal/terminal.h"
#include "tools/view/terminal/terminal_text.h"

namespace memoir {
namespace {

// "" where no process was killed for its memory.
std::string WhoKilled(const Capture& capture, const ReplayReport& report, const TypedCommand& names) {
  const auto merged = [](const ReplayReport::Process& process) { return process.end.reason() == v1::End::MERGED; };
  if (std::ranges::none_of(report.processes, merged)) return "";
  const auto memory = AnalyzeHost(capture, {});
  return memory.ok() ? KilledLine(capture, *memory, names.program, names.capture) : "";
}

void ShowSummary(const std::string& folder, const Capture& capture) {
  Progress progress("reading the recording");
  Selection selection;
  selection.progress = progress.callback();
  const auto holders = AnalyzePeakHolders(capture, selection);
  if (!holders.ok()) {
    Say(std::string(holders.status().message()));
    return;
  }
  Terminal terminal = DetectTerminal(STDERR_FILENO);
  terminal.width -= 8;  // "memoir: "
  const InstallTree tree = FindInstallTree();
  std::error_code error;
  const TypedCommand command = {.program = Escaped(TypedProgram(tree.root / "bin" / "memoir")),
                                .capture = Escaped(TypedPath(folder)),
                                .has_report = std::filesystem::exists(tree.report_page, error)};
  const std::string killed = WhoKilled(capture, holders->by_category.report, command);
  if (!killed.empty()) SayReport(Wrapped(killed, terminal.width, 0) + "\n");
  SayReport(RenderRunSummary(capture, *holders, command, terminal));
}

}  // namespace

void FinishRecording(const std::string& folder, bool quiet, bool wants_summaries) {
  const auto say = [](const std::string& line) { Say(line); };
  {
    const auto capture = OpenMerged(folder, say, quiet ? kAllRuns : kLastRun);
    if (!capture.ok()) {
      Say(std::string(capture.status().message()));
      return;
    }
    if (!quiet) ShowSummary(folder, *capture);
  }
  std::optional<Progress> progress;
  if (!quiet) progress.emplace("summarizing the ranks of this host");
  const auto show = [&](double done) {
    if (progress) progress->Show(done);
  };
  SummarizeOwnRecordings(folder, wants_summaries, say, show);
}

}  // namespace memoir
