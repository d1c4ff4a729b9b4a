#include "tools/cli/live/live_output.h"

#include <unistd.h>

#include <utility>

#include "absl/strings/numbers.h"
#include "fmt/format.h"
#include "tools/cli/output/output_file.h"
#include "tools/cli/terminal/exit_code.h"
#include "tools/cli/terminal/printed_messages.h"
#include "tools/view/live/live_json.h"
#include "tools/view/live/live_prometheus.h"
#include "tools/view/live/live_text.h"
#include "tools/view/live/live_words.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

absl::Status LiveOutput::Start() {
  std::uint32_t port = 0;
  if (options_.prometheus.empty() || !absl::SimpleAtoi(options_.prometheus, &port)) return absl::OkStatus();
  constexpr std::uint32_t kMostPort = 65535;
  if (port > kMostPort)
    return absl::InvalidArgumentError(fmt::format("--prometheus {}: a port is at most 65535", port));
  auto server = MetricsServer::Start(static_cast<std::uint16_t>(port));
  if (!server.ok()) return server.status();
  server_ = *std::move(server);
  PrintMessage(fmt::format("metrics on http://127.0.0.1:{}/metrics", server_->port()));
  return absl::OkStatus();
}

absl::Status LiveOutput::WritePrometheus(const LiveFigures& figures) {
  if (options_.prometheus.empty()) return absl::OkStatus();
  metrics_ = LivePrometheus(figures);
  if (server_ != nullptr) return absl::OkStatus();
  OutputFile file(options_.prometheus);
  file.Write(metrics_);
  return file.Finish();
}

std::vector<std::string> LiveOutput::Screen(const LiveFigures& figures, std::size_t height, const std::string& keys,
                                            const std::string& message) const {
  return RenderLiveScreen(figures, DetectTerminal(STDOUT_FILENO), {height, keys, message});
}

int LiveOutput::WriteScreen(const LiveFigures& figures) const {
  std::string text;
  for (const std::string& line : Screen(figures, 0, "", "")) text += line + "\n";
  return WriteOutput(text);
}

// Returns the findings that were not returned before.
std::string LiveOutput::NewFindings(const LiveFigures& figures) {
  std::string text;
  for (const LiveProcess& process : figures.processes) {
    for (const LiveFinding& finding : LiveFindings(process)) {
      if (!said_[process.pid].insert(finding.key).second) continue;
      text += fmt::format("! {}: {}\n", LiveName(process), finding.text);
    }
  }
  return text;
}

int LiveOutput::Write(const LiveFigures& figures) {
  if (options_.json) return WriteOutput(LiveJsonLine(figures));
  if (options_.once) return WriteScreen(figures);
  if (!options_.prometheus.empty()) return kExitFine;
  return WriteOutput(RenderLiveLines(figures, options_.top) + NewFindings(figures));
}

}  // namespace memoir
