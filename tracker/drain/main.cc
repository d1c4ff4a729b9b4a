// memoir-drain RING_FILE: started by `memoir` after a recorded process has died.
#include <signal.h>

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include "tracker/drain/drain.h"

namespace {

constexpr char kHelp[] =
    "usage: memoir-drain RING_FILE\n"
    "\n"
    "Appends what the event ring of a dead process still holds to its capture, as a new part, and removes the ring.\n"
    "May be run again at any time: nothing is lost or doubled. `memoir` starts it by itself.\n"
    "\n"
    "exit status: 0 done, 1 error (the ring is kept), 2 wrong usage\n";

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count == 2 && std::string_view(arguments[1]) == "--help") {
    std::fputs(kHelp, stdout);
    return 0;
  }
  if (argument_count != 2 || arguments[1][0] == '-' || arguments[1][0] == '\0') {
    std::fputs("memoir-drain: one RING_FILE is needed; see memoir-drain --help\n", stderr);
    return 2;
  }
  signal(SIGXFSZ, SIG_IGN);  // a limit on file sizes is an error like any other
  std::string error;
  try {
    error = memoir::DrainRing(arguments[1]);
  } catch (const std::exception& failure) {
    error = std::string(arguments[1]) + ": " + failure.what();
  }
  if (error.empty()) return 0;
  std::fprintf(stderr, "memoir-drain: %s\n", error.c_str());
  return 1;
}
