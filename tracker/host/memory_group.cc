#include "tracker/host/memory_group.h"

#include <sys/stat.h>

#include <optional>
#include <string_view>
#include <utility>

#include "tracker/host/system_text.h"

namespace memoir {
namespace {

// A limit that is not below this value means that there is no limit. Without a limit, version 1 of cgroups reports the
// greatest multiple of the page size below 2^63. Version 2 reports "max", which NumberOf reads as kNotKnown.
constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 62;

std::string_view Field(std::string_view line, std::size_t number) {
  for (; number > 0; --number) {
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) return {};
    line.remove_prefix(space + 1);
  }
  return line.substr(0, line.find(' '));
}

template <class Use>
void ForEachLine(std::string_view text, Use use) {
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view line = text.substr(at, text.find('\n', at) - at);
    use(line);
    at += line.size() + 1;
  }
}

bool HasWord(std::string_view words, std::string_view word) {
  return ("," + std::string(words) + ",").find("," + std::string(word) + ",") != std::string::npos;
}

// Returns the path in a line "ID:CONTROLLERS:PATH" of /proc/PID/cgroup (cgroups(7)).
std::string PathIn(std::string_view text, bool unified) {
  std::string path;
  ForEachLine(text, [&](std::string_view line) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) return;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    if (unified ? line.starts_with("0::") : HasWord(controllers, "memory")) path = line.substr(second + 1);
  });
  return path;
}

struct Mount {
  std::string root;  // the group that is visible at `point`
  std::string point;
};

// Parses the lines "ID PARENT DEVICE ROOT POINT OPTIONS [...] - TYPE SOURCE SUPER_OPTIONS" of /proc/PID/mountinfo
// (proc(5)).
std::optional<Mount> MountIn(std::string_view text, bool unified) {
  std::optional<Mount> found;
  ForEachLine(text, [&](std::string_view line) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) return;
    const std::string_view behind = line.substr(dash + 3);
    const bool fits =
        unified ? Field(behind, 0) == "cgroup2" : Field(behind, 0) == "cgroup" && HasWord(Field(behind, 2), "memory");
    if (fits) found = {std::string(Field(line, 3)), std::string(Field(line, 4))};
  });
  return found;
}

std::uint64_t LimitOf(const std::string& folder, bool unified) {
  const std::string text = ReadSystemText(folder + (unified ? "/memory.max" : "/memory.limit_in_bytes"));
  const std::uint64_t limit = NumberOf(text);
  return limit >= kNoLimit ? kNotKnown : limit;
}

bool Exists(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0;
}

}  // namespace

MemoryGroup MemoryGroup::Find(const std::string& root) {
  MemoryGroup group;
  const std::string groups = ReadSystemText(root + "/proc/self/cgroup");
  const std::string mounts = ReadSystemText(root + "/proc/self/mountinfo");
  for (const bool unified : {false, true}) {  // version 1 first: if both are mounted, version 1 may control memory
    const std::optional<Mount> mount = MountIn(mounts, unified);
    const std::string path = PathIn(groups, unified);
    if (!mount || path.empty()) continue;
    const char* const usage = unified ? "/memory.current" : "/memory.usage_in_bytes";
    // In a container, the folder `path` may not exist below the mount point. The mount point is then the
    // process's own group.
    const std::string own =
        mount->root != "/" && (path + "/").starts_with(mount->root + "/") ? path.substr(mount->root.size()) : path;
    const std::string point = root + mount->point;
    std::string folder = point + own;
    if (!Exists(folder + usage)) folder = point;
    while (folder.size() > point.size() && folder.ends_with('/')) folder.pop_back();
    std::uint64_t smallest = kNotKnown;
    for (;;) {
      const std::uint64_t limit = LimitOf(folder, unified);
      if (Exists(folder + usage) && (group.folder_.empty() || limit < smallest)) {
        group.folder_ = folder;
        group.is_unified_ = unified;
        smallest = limit;
      }
      if (folder.size() <= point.size()) break;
      folder.resize(folder.rfind('/'));
    }
    if (group.is_known()) break;
  }
  struct stat info{};
  if (group.is_known() && stat(group.folder_.c_str(), &info) == 0) group.id_ = info.st_ino;
  return group;
}

std::uint64_t MemoryGroup::ReadUsed() const {
  return is_known() ? NumberOf(ReadSystemText(folder_ + (is_unified_ ? "/memory.current" : "/memory.usage_in_bytes")))
                    : kNotKnown;
}

GroupMemory MemoryGroup::Read() const {
  GroupMemory memory;
  if (!is_known()) return memory;
  memory.used_bytes = ReadUsed();
  memory.limit_bytes = LimitOf(folder_, is_unified_);
  const std::string statistics = ReadSystemText(folder_ + "/memory.stat");
  const auto of_files = [&](const char* active, const char* inactive) {
    const std::uint64_t one = NumberAfter(statistics, active), other = NumberAfter(statistics, inactive);
    return one == kNotKnown || other == kNotKnown ? kNotKnown : one + other;
  };
  memory.reclaimable_bytes =
      is_unified_ ? of_files("active_file ", "inactive_file ") : of_files("total_active_file ", "total_inactive_file ");
  memory.shared_bytes = NumberAfter(statistics, is_unified_ ? "shmem " : "total_shmem ");
  memory.kills =
      NumberAfter(ReadSystemText(folder_ + (is_unified_ ? "/memory.events" : "/memory.oom_control")), "oom_kill ");
  return memory;
}

}  // namespace memoir
