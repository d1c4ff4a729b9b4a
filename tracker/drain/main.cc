// The program memoir-drain: merges the ring of a dead process into its capture. `memoir` and recording processes start
// it.
#include <signal.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include "tracker/drain/dead_ring_lines.h"
#include "tracker/drain/drain.h"

namespace {

constexpr char kHelp[] =
    "usage: memoir-drain [--or-remove | --signal=N] RING_FILE\n"
    "       memoir-drain --list FOLDER...\n"
    "       memoir-drain --clean FOLDER...\n"
    "\n"
    "Appends what the event ring of a dead process still holds to its capture, as a new part, and removes the ring.\n"
    "May be run again at any time: nothing is lost or doubled. `memoir` starts it by itself.\n"
    "\n"
    "  --or-remove  remove a ring whose capture's folder is gone\n"
    "  --signal=N   note that signal N killed the process\n"
    "  --list       the rings of dead processes in these folders: path, bytes, process, state, capture\n"
    "  --clean      do the same for each of them, with --or-remove, and print what was done\n"
    "\n"
    "exit status: 0 done, 1 error (the ring is kept), 2 wrong usage\n";

int Usage() {
  std::fputs("memoir-drain: one RING_FILE is needed; see memoir-drain --help\n", stderr);
  return 2;
}

// Returns N of "--signal=N"; 0 for any other option.
std::uint32_t SignalOf(std::string_view option) {
  constexpr std::string_view kName = "--signal=";
  std::uint32_t signal = 0;
  if (!option.starts_with(kName)) return 0;
  option.remove_prefix(kName.size());
  const auto read = std::from_chars(option.data(), option.data() + option.size(), signal);
  return read.ptr == option.data() + option.size() && signal <= static_cast<std::uint32_t>(SIGRTMAX) ? signal : 0;
}

int Drain(const std::string& ring, memoir::WithoutCapture without, std::uint32_t signal) {
  std::string error;
  try {
    error = memoir::DrainRing(ring, without, signal);
  } catch (const std::exception& failure) {
    error = ring + ": " + failure.what();
  }
  if (error.empty()) return 0;
  std::fprintf(stderr, "memoir-drain: %s\n", error.c_str());
  return 1;
}

int List(int folder_count, char** folders, bool clean) {
  try {
    for (int i = 0; i < folder_count; ++i) std::fputs(memoir::DeadRingLines(folders[i], clean).c_str(), stdout);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "memoir-drain: %s\n", failure.what());
    return 1;
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace

int main(int argument_count, char** arguments) {
  sigset_t none;  // unblocks the signals: a recording process starts this program with all signals blocked
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGXFSZ, SIG_IGN);  // so that a write beyond the limit of file sizes returns an error
  const std::string_view first = argument_count > 1 ? arguments[1] : "";
  if (argument_count == 2 && first == "--help") {
    std::fputs(kHelp, stdout);
    return 0;
  }
  if (argument_count > 2 && (first == "--list" || first == "--clean"))
    return List(argument_count - 2, arguments + 2, first == "--clean");
  const bool may_remove = argument_count == 3 && first == "--or-remove";
  const std::uint32_t signal = argument_count == 3 ? SignalOf(first) : 0;
  const int options = may_remove || signal != 0 ? 1 : 0;
  if (argument_count != options + 2) return Usage();
  const char* ring = arguments[options + 1];
  if (ring[0] == '-' || ring[0] == '\0') return Usage();
  return Drain(ring, may_remove ? memoir::WithoutCapture::kRemove : memoir::WithoutCapture::kKeep, signal);
}
