#include "tools/cli/launch/run_summary.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include "tools/analyze/host/host_memory_use.h"
#include "tools/analyze/summary/peak_owners.h"
#include "tools/cli/arguments/typed_path.h"
#include "tools/cli/attach/ring_merge.h"
#include "tools/cli/installed/install_tree.h"
#include "tools/cli/ranks/own_summaries.h"
#include "tools/cli/terminal/printed_messages.h"
#include "tools/cli/terminal/progress_line.h"
#include "tools/view/host/host_view.h"
#include "tools/view/summary/run_summary_text.h"
#include "tools/view/terminal/terminal.h"
#include "tools/view/terminal/terminal_text.h"

namespace memoir {
namespace {

// Returns the line of KilledLine(). Empty if no process was killed because of its memory use.
std::string WhoKilled(const Capture& capture, const ReplayReport& report, const TypedCommand& names) {
  const auto merged = [](const ReplayReport::Process& process) { return process.end.reason() == v1::End::MERGED; };
  if (std::ranges::none_of(report.processes, merged)) return "";
  const auto memory = AnalyzeHostMemory(capture, {});
  return memory.ok() ? KilledLine(capture, *memory, names.capture) : "";
}

void ShowSummary(const std::string& folder, const Capture& capture, const CommandEnd& end) {
  ProgressLine progress("reading the recording");
  Selection selection;
  selection.progress = progress.callback();
  const auto owners = AnalyzePeakOwners(capture, selection);
  if (!owners.ok()) {
    PrintMessage(std::string(owners.status().message()));
    return;
  }
  Terminal terminal = DetectTerminal(STDERR_FILENO);
  terminal.width -= 8;  // "memoir: "
  const InstallTree tree = FindInstallTree();
  std::error_code error;
  const TypedCommand command = {.capture = Escaped(TypedPath(folder)),
                                .has_report = std::filesystem::exists(tree.report_page, error)};
  const std::string killed = WhoKilled(capture, owners->by_category.report, command);
  if (!killed.empty()) PrintReport(Wrapped(killed, terminal.width, 0) + "\n");
  PrintReport(RenderRunSummary(capture, *owners, command, terminal, end));
}

}  // namespace

void FinishRecording(const std::string& folder, const CommandEnd& end, bool quiet, bool wants_summaries) {
  const auto say = [](const std::string& line) { PrintMessage(line); };
  {
    const auto capture = OpenMerged(folder, say, quiet ? kAllRuns : kLastRun, {.pid = end.pid, .signal = end.signal});
    if (!capture.ok()) {
      PrintMessage(std::string(capture.status().message()));
      return;
    }
    if (!quiet) ShowSummary(folder, *capture, end);
  }
  std::optional<ProgressLine> progress;
  if (!quiet) progress.emplace("summarizing the ranks of this host");
  const auto show = [&](double done) {
    if (progress) progress->Show(done);
  };
  SummarizeOwnRecordings(folder, wants_summaries, say, show);
}

}  // namespace memoir
