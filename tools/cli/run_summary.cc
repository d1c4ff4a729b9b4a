#include "tools/cli/run_summary.h"

#include <unistd.h>

#include <filesystem>

#include "fmt/format.h"
#include "tools/analyze/summary.h"
#include "tools/cli/message.h"
#include "tools/cli/progress.h"
#include "tools/cli/ring_merge.h"
#include "tools/view/summary_text.h"
#include "tools/view/terminal.h"
#include "tools/view/terminal_text.h"

namespace memoir {
namespace {

// As it can be typed here and pasted into a shell.
std::string Typed(const std::string& folder) {
  std::error_code error;
  const auto relative = std::filesystem::relative(folder, error);
  const std::string path = error || relative.string().starts_with("..") ? folder : relative.string();
  const bool plain =
      path.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./+=:,@%") ==
      std::string::npos;
  if (plain) return path;
  std::string quoted = "'";
  for (const char c : path) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

void FinishRecording(const std::string& folder, bool quiet) {
  const auto capture = OpenMerged(folder, [](const std::string& line) { Say(line); });
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
  SayReport(fmt::format("more: memoir {}\n", Escaped(Typed(folder))));
}

}  // namespace memoir
