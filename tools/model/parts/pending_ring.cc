#include "tools/model/parts/pending_ring.h"

#include <sys/stat.h>

#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>

#include "tools/model/parts/process_liveness.h"

namespace memoir {
namespace {

// Returns START, the start of the process in the kernel's ticks, from the name of a ring, "memoir-ring-PID-START...". 0
// if the start is unknown.
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
  // WasRecordedOnThisHost may be true for a process of another container (process_liveness.h). This is harmless,
  // because ring paths differ between containers.
  if (!WasRecordedOnThisHost(info)) return "";
  if (HasPid(info) && LivenessOf(info, StartInName(info.ring_path())) != ProcessLiveness::kGone) return "";
  if (lstat(info.ring_path().c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return "";
  return info.ring_path();
}

}  // namespace memoir
