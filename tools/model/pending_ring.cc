#include "tools/model/pending_ring.h"

#include <sys/stat.h>

#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>

#include "tools/model/liveness.h"

namespace memoir {
namespace {

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

}  // namespace

std::string FindPendingRing(const v1::ProcessInfo& info) {
  struct stat status;
  if (info.ring_path().empty() || info.ring_path()[0] != '/') return "";
  if (!IsOfThisHost(info)) return "";  // of containers that share its id the ring's path tells them apart
  if (HasPid(info) && LivenessOf(info, StartInName(info.ring_path())) != Liveness::kGone) return "";
  if (lstat(info.ring_path().c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return "";
  return info.ring_path();
}

}  // namespace memoir
