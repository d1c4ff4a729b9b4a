// Serves metrics to Prometheus on the loopback interface: GET /metrics returns one text.
//
// No library that Memoir uses is suitable (docs/packaging/dependencies.md). The server answers one request on each
// connection, and reads at most the first 4 KiB of a request. It runs in the loop of `memoir live`, without a thread.
#ifndef TOOLS_CLI_LIVE_METRICS_SERVER_H_
#define TOOLS_CLI_LIVE_METRICS_SERVER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace memoir {

class MetricsServer {
 public:
  // Port 0: any free port. Errors name cause and fix.
  static absl::StatusOr<std::unique_ptr<MetricsServer>> Start(std::uint16_t port);
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  std::uint16_t port() const { return port_; }
  int descriptor() const { return socket_; }  // readable if a request waits
  // Answers all waiting requests. Does not wait for slow clients.
  void Answer(const std::string& metrics);

 private:
  MetricsServer(int socket, std::uint16_t port) : socket_(socket), port_(port) {}
  const int socket_;
  const std::uint16_t port_;
};

}  // namespace memoir

#endif  // TOOLS_CLI_LIVE_METRICS_SERVER_H_
