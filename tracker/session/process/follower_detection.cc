#include "tracker/session/process/follower_detection.h"

#include <sys/stat.h>

#include <climits>
#include <cstdio>
#include <ctime>

namespace memoir {

// A reader that follows the capture touches the file `.followed` (tools/cli/live/follow_mark.cc).
bool IsFollowed(const std::string& folder) noexcept {
  constexpr std::time_t kRecentSeconds = 10;
  char path[PATH_MAX];
  const int size = std::snprintf(path, sizeof path, "%s/.followed", folder.c_str());
  if (size < 0 || static_cast<std::size_t>(size) >= sizeof path) return false;
  struct stat status;
  if (lstat(path, &status) != 0) return false;
  const std::time_t age = std::time(nullptr) - status.st_mtim.tv_sec;
  return age >= -kRecentSeconds && age <= kRecentSeconds;
}

}  // namespace memoir
