#include "tools/cli/launch/run_summary.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "tools/analyze/summary/peak_holders.h"
#include "tools/cli/arguments/typed_path.h"
#include "tools/cli/attach/ring_merge.h"
#include "tools/cli/installed/install_tree.h"
#include "tools/cli/terminal/message.h"
#include "tools/cli/terminal/progress.h"
#include "tools/view/summary/run_summary_text.h"
#include "tools/view/terminal/terminal.h"
#include "tools/view/terminal/terminal_text.h"

namespace memoir {

void FinishRecording(const std::string& folder, bool quiet) {
  const auto capture = OpenMerged(folder, [](const std::string& line) { Say(line); }, quiet ? kAllRuns : kLastRun);
  if (!capture.ok()) {
    Say(std::string(capture.status().message()));
    return;
  }
  if (quiet) return;
  Progress progress("reading the recording");
  Selection selection;
  selection.progress = progress.callback();
  const auto holders = AnalyzePeakHolders(*capture, selection);
  if (!holders.ok()) {
    Say(std::string(holders.status().message()));
    return;
  }
  Terminal terminal = DetectTerminal(STDERR_FILENO);
  terminal.width -= 8;  // "memoir: "
  const InstallTree tree = FindInstallTree();
  std::error_code error;
  SayReport(RenderRunSummary(*capture, *holders,
                             {.program = Escaped(TypedProgram(tree.root / "bin" / "memoir")),
                              .capture = Escaped(TypedPath(folder)),
                              .has_report = std::filesystem::exists(tree.report_page, error)},
                             terminal));
}

}  // namespace memoir
