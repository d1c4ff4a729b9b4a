#include "tools/model/liveness.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include "absl/strings/numbers.h"

namespace memoir {

bool IsOfThisHost(const v1::ProcessInfo& info) {
  char name[256] = {};
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return gethostname(name, sizeof name - 1) == 0 && info.host() == name &&
         (info.boot_id().empty() || info.boot_id() == boot);
}

bool HasPid(const v1::ProcessInfo& info) {
  return info.pid() != 0 && info.pid() <= static_cast<std::uint64_t>(std::numeric_limits<pid_t>::max());
}

// A process that nobody has waited for is gone, too: in a container nobody may ever do so. And its number may be
// another's by now.
Liveness LivenessOf(const v1::ProcessInfo& info, std::uint64_t start) {
  if (!HasPid(info) || !IsOfThisHost(info)) return Liveness::kNotKnown;
  std::ifstream file("/proc/" + std::to_string(info.pid()) + "/stat");
  std::string line;
  if (!std::getline(file, line)) {
    const bool none = kill(static_cast<pid_t>(info.pid()), 0) != 0 && errno == ESRCH;
    return none ? Liveness::kGone : Liveness::kNotKnown;
  }
  std::istringstream fields(line.substr(std::min(line.size(), line.rfind(')') + 1)));  // a name may have anything in it
  std::string field;
  char state = '\0';
  std::uint64_t threads = 0, began = 0;
  fields >> state;  // the 3rd
  for (int number = 4; fields >> field; ++number) {
    if (number == 20) (void)absl::SimpleAtoi(field, &threads);
    if (number == 22) (void)absl::SimpleAtoi(field, &began);
  }
  const bool is_another = start != 0 && began != 0 && began != start;
  const bool has_ended = (state == 'Z' || state == 'X') && threads <= 1;
  return is_another || has_ended ? Liveness::kGone : Liveness::kRuns;
}

}  // namespace memoir
