// Where the pictures of `memoir live` go beside the terminal: lines, JSON, a file or a port for Prometheus.
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
#include "tools/analyze/live/live_picture.h"
#include "tools/cli/live/metrics_server.h"

namespace memoir {

class LiveOutput {
 public:
  struct Options {
    bool json = false, once = false;
    std::size_t top = 8;     // processes in plain lines
    std::string prometheus;  // a file, or a port; "": neither
  };
  explicit LiveOutput(Options options) : options_(std::move(options)) {}

  // Listens, where that is asked for.
  absl::Status Start();
  // To standard output; an exit code.
  int Write(const LivePicture& picture);
  int WriteScreen(const LivePicture& picture) const;
  std::vector<std::string> Screen(const LivePicture& picture, std::size_t height, const std::string& keys,
                                  const std::string& message) const;
  absl::Status WritePrometheus(const LivePicture& picture);
  int server() const { return server_ == nullptr ? -1 : server_->descriptor(); }
  void Answer() {
    if (server_ != nullptr) server_->Answer(metrics_);
  }

 private:
  std::string NewFindings(const LivePicture& picture);

  const Options options_;
  std::unique_ptr<MetricsServer> server_;
  std::string metrics_;
  std::map<std::uint64_t, std::set<std::string>> said_;  // findings, by process
};

}  // namespace memoir

#endif  // TOOLS_CLI_LIVE_LIVE_OUTPUT_H_
