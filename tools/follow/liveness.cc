#include "tools/follow/liveness.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

namespace memoir {
namespace {

bool IsThisHost(const v1::ProcessInfo& info) {
  char name[256] = {};
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return gethostname(name, sizeof name - 1) == 0 && info.host() == name &&
         (info.boot_id().empty() || info.boot_id() == boot);
}

}  // namespace

Liveness LivenessOf(const v1::ProcessInfo& info) {
  const bool is_pid = info.pid() != 0 && info.pid() <= static_cast<std::uint64_t>(std::numeric_limits<pid_t>::max());
  if (!is_pid || !IsThisHost(info)) return Liveness::kNotKnown;
  std::ifstream file("/proc/" + std::to_string(info.pid()) + "/stat");
  std::string line;
  if (!std::getline(file, line)) {
    const bool none = kill(static_cast<pid_t>(info.pid()), 0) != 0 && errno == ESRCH;
    return none ? Liveness::kGone : Liveness::kNotKnown;
  }
  std::istringstream fields(line.substr(std::min(line.size(), line.rfind(')') + 1)));  // a name may have anything in it
  char state = '\0';
  fields >> state;  // the 3rd field
  std::string field;
  std::uint64_t began = 0;
  for (int number = 4; number <= 22 && fields >> field; ++number) {
    if (number == 22) std::istringstream(field) >> began;
  }
  if (state == 'Z' || state == 'X') return Liveness::kGone;
  const bool another = info.process_start() != 0 && began != 0 && began != info.process_start();
  return another ? Liveness::kGone : Liveness::kRuns;
}

}  // namespace memoir
