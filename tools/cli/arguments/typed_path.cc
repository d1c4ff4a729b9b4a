#include "tools/cli/arguments/typed_path.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace memoir {

std::string TypedWord(const std::string& shown) {
  const bool plain =
      shown.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./+=:,@%") ==
      std::string::npos;
  if (plain) return shown;
  std::string quoted = "'";
  for (const char c : shown) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// What does not exist has no relative path.
std::string TypedPath(const std::string& path) {
  std::error_code error;
  const std::string relative = std::filesystem::relative(path, error).string();
  return TypedWord(error || relative.empty() || relative.starts_with("..") ? path : relative);
}

std::string TypedProgram(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  const char* folders = std::getenv("PATH");
  for (std::string_view rest = folders == nullptr ? "" : folders; !rest.empty();) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    // An empty one is the working folder, where nobody means to have it.
    if (!folder.empty() && access((std::string(folder) + "/" + name).c_str(), X_OK) == 0) return name;
  }
  const std::string typed = TypedPath(path);
  return typed.find('/') == std::string::npos ? "./" + typed : typed;
}

}  // namespace memoir
