#include "tracker/writer/file/folder_paths.h"

#include <sys/stat.h>
#include <unistd.h>

#include <climits>

namespace memoir {

std::string AbsolutePath(const std::string& path) {
  char current[PATH_MAX];
  if (path.empty() || path.front() == '/' || getcwd(current, sizeof current) == nullptr) return path;
  const std::string folder = current;
  return folder == "/" ? folder + path : folder + "/" + path;
}

bool IsFolder(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

}  // namespace memoir
