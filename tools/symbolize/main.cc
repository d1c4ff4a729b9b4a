// memoir-symbolize [--objects FOLDER]... CAPTURE: the program that `memoir symbolize` starts after checking the
// arguments.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>

#include "tools/symbolize/symbolize.h"

namespace {

// Limits this process to half of the machine's memory, so that a file with absurd sizes causes an error here. Without
// the limit, such a file could take the memory of other processes.
void LimitMemory() {
  const rlim_t half = static_cast<rlim_t>(sysconf(_SC_PHYS_PAGES)) / 2 * static_cast<rlim_t>(sysconf(_SC_PAGE_SIZE));
  rlimit limit;
  if (getrlimit(RLIMIT_DATA, &limit) != 0) return;
  limit.rlim_cur = std::min(limit.rlim_cur, half);
  setrlimit(RLIMIT_DATA, &limit);
}

// Prints one line. Replaces control characters, which paths and names of a capture may contain.
void Say(std::string line) {
  std::ranges::replace_if(line, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  std::fprintf(stderr, "memoir: %s\n", line.c_str());
}

int Run(memoir::SymbolizeOptions& options) {
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
  const absl::StatusOr<memoir::SymbolizeResult> done = memoir::Symbolize(options);
  if (on_terminal) std::fputs("\r\033[K", stderr);
  if (!done.ok()) {
    Say(std::string(done.status().message()));
    return 1;
  }
  for (const std::string& problem : done->problems) Say(problem);
  std::printf("%zu addresses in %zu libraries and programs: %zu have names, %zu a line of source\n", done->addresses,
              done->objects, done->named, done->with_lines);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  LimitMemory();
  memoir::SymbolizeOptions options;
  for (int i = 1; i < count; ++i) {
    if (std::string_view(arguments[i]) == "--objects" && i + 1 < count) {
      options.folders.emplace_back(arguments[++i]);
    } else {
      options.capture = arguments[i];
    }
  }
  try {
    return Run(options);
  } catch (const std::bad_alloc&) {
    Say(options.capture + ": not enough memory to name its frames; the capture is as it was");
    return 1;
  }
}
