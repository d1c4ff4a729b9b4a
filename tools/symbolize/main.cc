// memoir-symbolize [--objects FOLDER]... CAPTURE: what `memoir symbolize` starts, whose arguments are checked there.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tools/symbolize/symbolize.h"

int main(int count, char** arguments) {
  memoir::SymbolizeOptions options;
  for (int i = 1; i < count; ++i) {
    if (std::string_view(arguments[i]) == "--objects" && i + 1 < count) {
      options.folders.emplace_back(arguments[++i]);
    } else {
      options.capture = arguments[i];
    }
  }
  const bool on_terminal = isatty(STDERR_FILENO) == 1;
  using std::chrono::steady_clock;
  const bool may_wait = std::getenv("DEBUGINFOD_URLS") != nullptr;
  steady_clock::time_point next = steady_clock::now() + std::chrono::seconds(may_wait ? 0 : 1);
  if (on_terminal) {
    options.progress = [&next](double done) {
      if (steady_clock::now() < next) return;
      next = steady_clock::now() + std::chrono::milliseconds(200);
      std::fprintf(stderr, "\rmemoir: naming functions %3.0f %%\033[K", 100 * done);
    };
  }
  const absl::StatusOr<memoir::Symbolized> done = memoir::Symbolize(options);
  if (on_terminal) std::fputs("\r\033[K", stderr);
  if (!done.ok()) {
    std::fprintf(stderr, "memoir: %s\n", std::string(done.status().message()).c_str());
    return 1;
  }
  for (const std::string& problem : done->problems) std::fprintf(stderr, "memoir: %s\n", problem.c_str());
  std::printf("%zu addresses in %zu libraries and programs: %zu have names, %zu a line of source\n", done->addresses,
              done->objects, done->named, done->with_lines);
  return 0;
}
