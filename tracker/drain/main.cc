// memoir-drain: started by `memoir`, and by recording processes, after a recorded process has died.
#include <signal.h>

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include "tracker/drain/dead_ring_lines.h"
#include "tracker/drain/drain.h"

namespace {

constexpr char kHelp[] =
    "usage: memoir-drain [--or-remove] RING_FILE\n"
    "       memoir-drain --list FOLDER...\n"
    "       memoir-drain --clean FOLDER...\n"
    "\n"
    "Appends what the event ring of a dead process still holds to its capture, as a new part, and removes the ring.\n"
    "May be run again at any time: nothing is lost or doubled. `memoir` starts it by itself.\n"
    "\n"
    "  --or-remove  remove a ring whose capture's folder is gone\n"
    "  --list       the rings of dead processes in these folders: path, bytes, process, state, capture\n"
    "  --clean      do the same for each of them, with --or-remove, and print what was done\n"
    "\n"
    "exit status: 0 done, 1 error (the ring is kept), 2 wrong usage\n";

int Usage() {
  std::fputs("memoir-drain: one RING_FILE is needed; see memoir-drain --help\n", stderr);
  return 2;
}

int Drain(const std::string& ring, memoir::WithoutCapture without) {
  std::string error;
  try {
    error = memoir::DrainRing(ring, without);
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
  sigset_t none;  // a recording process has all blocked when it starts this
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGXFSZ, SIG_IGN);  // a limit on file sizes is an error like any other
  const std::string_view first = argument_count > 1 ? arguments[1] : "";
  if (argument_count == 2 && first == "--help") {
    std::fputs(kHelp, stdout);
    return 0;
  }
  if (argument_count > 2 && (first == "--list" || first == "--clean"))
    return List(argument_count - 2, arguments + 2, first == "--clean");
  const bool may_remove = argument_count == 3 && first == "--or-remove";
  const char* ring = may_remove ? arguments[2] : arguments[1];
  if (argument_count != (may_remove ? 3 : 2) || ring[0] == '-' || ring[0] == '\0') return Usage();
  return Drain(ring, may_remove ? memoir::WithoutCapture::kRemove : memoir::WithoutCapture::kKeep);
}
