#include "tools/cli/live/metrics_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "fmt/format.h"

namespace memoir {
namespace {

// The timeout of a client that sends or reads nothing.
constexpr timeval kPatience{0, 200'000};
constexpr std::size_t kMostRequest = 4096;
constexpr int kMostAtOnce = 16;

std::string Reply(std::string_view status, std::string_view type, const std::string& body) {
  return fmt::format("HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}", status,
                     type, body.size(), body);
}

// Returns the first line of the request. Also reads the rest of the head, as far as it has arrived.
std::string ReadRequest(int client) {
  std::string request;
  char bytes[1024];
  while (request.size() < kMostRequest && request.find("\r\n\r\n") == std::string::npos) {
    const ssize_t got = recv(client, bytes, sizeof bytes, 0);
    if (got <= 0) break;
    request.append(bytes, static_cast<std::size_t>(got));
  }
  return request.substr(0, request.find("\r\n"));
}

// Returns the answer to a request. A page of another site may make a browser on this host send a request, but cannot
// read the answer, because no answer allows other origins.
std::string AnswerTo(const std::string& line, const std::string& metrics) {
  const bool get = line.starts_with("GET ");
  const std::string path = get ? line.substr(4, line.find(' ', 4) - 4) : "";
  if (!get) return Reply("405 Method Not Allowed", "text/plain", "GET /metrics\n");
  if (path != "/metrics" && path != "/") return Reply("404 Not Found", "text/plain", "GET /metrics\n");
  return Reply("200 OK", "text/plain; version=0.0.4; charset=utf-8", metrics);
}

void SendAll(int client, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = send(client, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<MetricsServer>> MetricsServer::Start(std::uint16_t port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  constexpr int kYes = 1;
  socklen_t length = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  const bool listens = socket >= 0 && setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &kYes, sizeof kYes) == 0 &&
                       bind(socket, any, length) == 0 && listen(socket, kMostAtOnce) == 0 &&
                       getsockname(socket, any, &length) == 0;
  if (listens) return std::unique_ptr<MetricsServer>(new MetricsServer(socket, ntohs(address.sin_port)));
  const int cause = errno;
  if (socket >= 0) close(socket);
  return absl::UnavailableError(
      fmt::format("--prometheus {}: cannot listen on 127.0.0.1 ({}); choose another port", port, std::strerror(cause)));
}

MetricsServer::~MetricsServer() { close(socket_); }

void MetricsServer::Answer(const std::string& metrics) {
  for (int i = 0; i < kMostAtOnce; ++i) {
    const int client = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) return;
    setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
    setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
    SendAll(client, AnswerTo(ReadRequest(client), metrics));
    shutdown(client, SHUT_WR);
    close(client);
  }
}

}  // namespace memoir
