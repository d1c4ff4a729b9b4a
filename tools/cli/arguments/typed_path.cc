#include "tools/cli/arguments/typed_path.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "tools/view/terminal/printed_command.h"
#include "tools/view/terminal/terminal_text.h"

namespace memoir {
namespace {

// Returns the first program `name` in the folders of PATH. Empty if no folder contains it.
std::string FoundByShell(const std::string& name) {
  const char* const folders = std::getenv("PATH");
  for (std::string_view rest = folders == nullptr ? "" : folders; !rest.empty();) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    const std::string path = std::string(folder) + "/" + name;
    // An empty folder in PATH means the working folder. The empty folder is ignored, because it is usually in PATH by
    // mistake.
    if (!folder.empty() && access(path.c_str(), X_OK) == 0) return path;
  }
  return "";
}

}  // namespace

std::string WithDotSlash(const std::string& path) { return path.starts_with('-') ? "./" + path : path; }

// Uses `path` unchanged if it is outside of the working folder, or if std::filesystem::relative returns an empty path.
// An empty path is possible if `path` does not exist.
std::string TypedPath(const std::string& path) {
  std::error_code error;
  const std::string relative = std::filesystem::relative(path, error).string();
  const std::string& shown = error || relative.empty() || relative.starts_with("..") ? path : relative;
  return TypedWord(WithDotSlash(shown));
}

void NameProgramInCommands(const std::string& started_as) {
  std::error_code error;
  const std::string linked = std::filesystem::read_symlink("/proc/self/exe", error).string();
  const std::string path = error ? started_as : linked;
  const std::string name = std::filesystem::path(path).filename().string();
  const std::string found = FoundByShell(name);
  for (const std::string& own : {path, started_as}) {
    if (!found.empty() && std::filesystem::equivalent(found, own, error)) return SetPrintedProgram(Escaped(name));
  }
  const std::string typed = TypedPath(path);
  SetPrintedProgram(Escaped(typed.find('/') == std::string::npos ? "./" + typed : typed));
}

}  // namespace memoir
