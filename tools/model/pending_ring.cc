#include "tools/model/pending_ring.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <limits>

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

bool IsDead(std::uint64_t pid) {
  if (pid == 0 || pid > static_cast<std::uint64_t>(std::numeric_limits<pid_t>::max())) return true;
  return kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH;
}

}  // namespace

std::string FindPendingRing(const v1::ProcessInfo& info) {
  struct stat status;
  if (info.ring_path().empty() || info.ring_path()[0] != '/') return "";
  if (!IsThisHost(info.host()) || !IsThisBoot(info.boot_id()) || !IsDead(info.pid())) return "";
  if (lstat(info.ring_path().c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return "";
  return info.ring_path();
}

}  // namespace memoir
