#include "tools/view/terminal/signal_text.h"

#include <algorithm>
#include <csignal>
#include <iterator>
#include <string_view>

#include "fmt/format.h"

namespace memoir {
namespace {

struct SignalName {
  std::uint32_t signal;
  std::string_view text;
};
constexpr SignalName kNames[] = {
    {SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"}, {SIGILL, "SIGILL"},
    {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},   {SIGKILL, "SIGKILL"},
    {SIGUSR1, "SIGUSR1"}, {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"}, {SIGPIPE, "SIGPIPE"},
    {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"}, {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"}};

}  // namespace

std::string SignalText(std::uint32_t signal) {
  const auto* const name = std::ranges::find(kNames, signal, &SignalName::signal);
  return name == std::end(kNames) ? fmt::format("signal {}", signal)
                                  : fmt::format("signal {} ({})", signal, name->text);
}

}  // namespace memoir
