// Answers scrapes on the loopback interface: one text, for GET /metrics.
//
// Written here, for the kept libraries do not fit (docs/dependencies.md): it answers one request a connection, never
// reads more than a request's first 4 KiB, and is asked from the loop of `memoir live`, without a thread.
#ifndef TOOLS_CLI_LIVE_METRICS_SERVER_H_
#define TOOLS_CLI_LIVE_METRICS_SERVER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace memoir {

class MetricsServer {
 public:
  // Port 0: any that is free. Errors say cause and fix.
  static absl::StatusOr<std::unique_ptr<MetricsServer>> Start(std::uint16_t port);
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  std::uint16_t port() const { return port_; }
  int descriptor() const { return socket_; }  // readable: somebody asks
  // Answers everybody who waits; who is slow is not waited for.
  void Answer(const std::string& metrics);

 private:
  MetricsServer(int socket, std::uint16_t port) : socket_(socket), port_(port) {}
  const int socket_;
  const std::uint16_t port_;
};

}  // namespace memoir

#endif  // TOOLS_CLI_LIVE_METRICS_SERVER_H_
