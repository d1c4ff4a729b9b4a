#include "tools/cli/launch/run_summary.h"

#include <unistd.h>

#include "fmt/format.h"
#include "tools/analyze/summary/summary.h"
#include "tools/cli/arguments/typed_path.h"
#include "tools/cli/attach/ring_merge.h"
#include "tools/cli/terminal/message.h"
#include "tools/cli/terminal/progress.h"
#include "tools/view/summary/summary_text.h"
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
  SummaryOptions options;
  options.progress = progress.callback();
  const auto summary = AnalyzeSummary(*capture, options);
  if (!summary.ok()) {
    Say(std::string(summary.status().message()));
    return;
  }
  Terminal terminal = DetectTerminal(STDERR_FILENO);
  terminal.width -= 8;  // "memoir: "
  SayReport(RenderSummary(*capture, *summary, {.brief = true}, terminal));
  const std::string path = Escaped(TypedPath(folder));
  if (!summary->out_of_memory.empty()) SayReport(fmt::format("every error: memoir check oom {}\n", path));
  SayReport(fmt::format("more: memoir {}\n", path));
}

}  // namespace memoir
