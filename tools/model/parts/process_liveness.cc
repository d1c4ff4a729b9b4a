#include "tools/model/parts/process_liveness.h"

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

std::string NameOfThisHost() {
  char name[256] = "";
  return gethostname(name, sizeof name - 1) == 0 ? name : "";
}

bool WasRecordedOnThisHost(const v1::ProcessInfo& info) {
  const std::string name = NameOfThisHost();
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return !name.empty() && info.host() == name && (info.boot_id().empty() || info.boot_id() == boot);
}

bool HasPid(const v1::ProcessInfo& info) {
  return info.pid() != 0 && info.pid() <= static_cast<std::uint64_t>(std::numeric_limits<pid_t>::max());
}

// A zombie counts as gone, because in a container its parent may never wait for it. If the running process has another
// start than `start`, it is a later process with the same process id, and the recorded process is gone.
ProcessLiveness LivenessOf(const v1::ProcessInfo& info, std::uint64_t start) {
  if (!HasPid(info) || !WasRecordedOnThisHost(info)) return ProcessLiveness::kNotKnown;
  std::ifstream file("/proc/" + std::to_string(info.pid()) + "/stat");
  std::string line;
  if (!std::getline(file, line)) {
    const bool none = kill(static_cast<pid_t>(info.pid()), 0) != 0 && errno == ESRCH;
    return none ? ProcessLiveness::kGone : ProcessLiveness::kNotKnown;
  }
  // The fields are read from the last ')' on, because the program's name before it may contain any characters.
  std::istringstream fields(line.substr(std::min(line.size(), line.rfind(')') + 1)));
  std::string field;
  char state = '\0';
  std::uint64_t threads = 0, began = 0;
  fields >> state;  // field 3
  for (int number = 4; fields >> field; ++number) {
    if (number == 20) (void)absl::SimpleAtoi(field, &threads);
    if (number == 22) (void)absl::SimpleAtoi(field, &began);
  }
  const bool is_another = start != 0 && began != 0 && began != start;
  const bool has_ended = (state == 'Z' || state == 'X') && threads <= 1;
  return is_another || has_ended ? ProcessLiveness::kGone : ProcessLiveness::kRuns;
}

}  // namespace memoir
