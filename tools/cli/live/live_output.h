// The outputs of `memoir live`: the lines of the screen, plain lines, JSON, and a file or a port for Prometheus.
#ifndef TOOLS_CLI_LIVE_LIVE_OUTPUT_H_
#define TOOLS_CLI_LIVE_LIVE_OUTPUT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/analyze/live/live_figures.h"
#include "tools/cli/live/metrics_server.h"

namespace memoir {

class LiveOutput {
 public:
  struct Options {
    bool json = false, once = false;
    std::size_t top = 8;     // processes in plain lines
    std::string prometheus;  // a file or a port; "": neither
  };
  explicit LiveOutput(Options options) : options_(std::move(options)) {}

  // Listens on the port, if one is requested.
  absl::Status Start();
  // Writes to standard output and returns an exit code.
  int Write(const LiveFigures& figures);
  int WriteScreen(const LiveFigures& figures) const;
  std::vector<std::string> Screen(const LiveFigures& figures, std::size_t height, const std::string& keys,
                                  const std::string& message) const;
  absl::Status WritePrometheus(const LiveFigures& figures);
  int server() const { return server_ == nullptr ? -1 : server_->descriptor(); }
  void Answer() {
    if (server_ != nullptr) server_->Answer(metrics_);
  }

 private:
  std::string NewFindings(const LiveFigures& figures);

  const Options options_;
  std::unique_ptr<MetricsServer> server_;
  std::string metrics_;
  std::map<std::uint64_t, std::set<std::string>> said_;  // keys of reported findings, by process
};

}  // namespace memoir

#endif  // TOOLS_CLI_LIVE_LIVE_OUTPUT_H_
