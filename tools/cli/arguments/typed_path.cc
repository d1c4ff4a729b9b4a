#include "tools/cli/arguments/typed_path.h"

#include <filesystem>
#include <system_error>

namespace memoir {

std::string TypedPath(const std::string& path) {
  std::error_code error;
  const auto relative = std::filesystem::relative(path, error);
  std::string shown = error || relative.string().starts_with("..") ? path : relative.string();
  const bool plain =
      shown.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./+=:,@%") ==
      std::string::npos;
  if (plain) return shown;
  std::string quoted = "'";
  for (const char c : shown) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace memoir
