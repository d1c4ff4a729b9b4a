#include "tools/model/pending_ring.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <limits>
#include <sstream>
#include <string_view>
#include <system_error>

#include "absl/strings/numbers.h"

namespace memoir {
namespace {

bool IsThisHost(const std::string& host) {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 && host == name;
}

// Containers share the id but not the process table; then the ring's path tells them apart.
bool IsThisBoot(const std::string& boot_id) {
  std::string running;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> running;
  return boot_id.empty() || boot_id == running;
}

bool IsPid(std::uint64_t pid) {
  return pid != 0 && pid <= static_cast<std::uint64_t>(std::numeric_limits<pid_t>::max());
}

// A ring is named after its process, "memoir-ring-PID-START...": when that began, in the kernel's ticks. 0: not known.
std::uint64_t StartInName(const std::string& ring_path) {
  constexpr std::string_view kBegin = "memoir-ring-";
  const std::string name = ring_path.substr(ring_path.find_last_of('/') + 1);
  if (!name.starts_with(kBegin)) return 0;
  const char* const end = name.data() + name.size();
  std::uint64_t pid = 0, start = 0;
  const auto [after_pid, pid_error] = std::from_chars(name.data() + kBegin.size(), end, pid);
  if (pid_error != std::errc{} || *after_pid != '-') return 0;
  return std::from_chars(after_pid + 1, end, start).ec == std::errc{} ? start : 0;
}

// A process that nobody has waited for is dead, too: in a container nobody may ever do so. And its number may be
// another's by now.
bool IsDead(std::uint64_t pid, std::uint64_t start) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH;
  std::istringstream fields(line.substr(std::min(line.size(), line.rfind(')') + 1)));  // a name may have anything in it
  std::string field;
  char state = '\0';
  std::uint64_t threads = 0, began = 0;
  fields >> state;  // the 3rd
  for (int number = 4; fields >> field; ++number) {
    if (number == 20) (void)absl::SimpleAtoi(field, &threads);
    if (number == 22) (void)absl::SimpleAtoi(field, &began);
  }
  if (start != 0 && began != 0 && began != start) return true;
  return (state == 'Z' || state == 'X') && threads <= 1;
}

}  // namespace

std::string FindPendingRing(const v1::ProcessInfo& info) {
  struct stat status;
  if (info.ring_path().empty() || info.ring_path()[0] != '/') return "";
  if (!IsThisHost(info.host()) || !IsThisBoot(info.boot_id())) return "";
  if (IsPid(info.pid()) && !IsDead(info.pid(), StartInName(info.ring_path()))) return "";
  if (lstat(info.ring_path().c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return "";
  return info.ring_path();
}

}  // namespace memoir
