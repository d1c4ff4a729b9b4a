#include "tools/cli/process/private_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

namespace memoir {
namespace {

namespace fs = std::filesystem;

std::error_code MakeOne(const fs::path& path) {
  if (mkdir(path.c_str(), 0700) == 0) {
    std::error_code ignored;
    fs::permissions(path, fs::perms::owner_all, fs::perm_options::add, ignored);  // undoes the umask
    return {};
  }
  const std::error_code error(errno == EEXIST ? ENOTDIR : errno, std::generic_category());
  std::error_code ignored;
  return fs::is_directory(path, ignored) ? std::error_code() : error;  // another process may have created it
}

}  // namespace

std::error_code MakePrivateFolders(const fs::path& path) {
  fs::path made;
  for (const fs::path& name : path) {
    made /= name;
    std::error_code error;
    if (name.empty() || fs::is_directory(made, error)) continue;
    if (const std::error_code failed = MakeOne(made)) return failed;
  }
  return {};
}

std::error_code TryToWrite(const fs::path& folder) {
  std::string probe = (folder / ".memoir-probe-XXXXXX").string();
  const int file = mkostemp(probe.data(), O_CLOEXEC);
  if (file < 0) return {errno, std::generic_category()};
  close(file);
  unlink(probe.c_str());
  return {};
}

}  // namespace memoir
