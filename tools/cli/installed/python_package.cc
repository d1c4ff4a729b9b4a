#include "tools/cli/installed/python_package.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"
#include "tools/cli/process/child_process.h"

namespace memoir {
namespace {

constexpr int kPatience = 60;  // seconds; Python starts slowly on a busy file server

// Checks for the package without importing it.
bool HasPackage(const std::string& python, const std::string& package) {
  const std::string program =
      "import importlib.util, sys; sys.stdout.write(str(importlib.util.find_spec('" + package + "') is not None))";
  const absl::StatusOr<std::string> said = CaptureOutput({python, "-c", program}, kPatience);
  return said.ok() && *said == "True";
}

// Returns the Python of the environment that contains this installation
// (ENVIRONMENT/lib/python3.11/site-packages/memoir/_tree), the Python of the active environment, and the Pythons in
// PATH.
std::vector<std::string> Candidates(const InstallTree& tree) {
  std::vector<std::string> candidates;
  std::error_code ignored;
  std::filesystem::path environment = tree.root;
  for (int i = 0; i < 5; ++i) environment = environment.parent_path();
  std::vector<std::filesystem::path> folders = {environment};
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const char* active = std::getenv(name); active != nullptr && *active != '\0') folders.emplace_back(active);
  }
  for (const std::filesystem::path& folder : folders) {
    if (std::filesystem::exists(folder / "bin" / "python", ignored))
      candidates.push_back((folder / "bin" / "python").string());
  }
  for (const char* name : {"python", "python3"}) {
    if (const std::string found = FindOnPath(name); !found.empty() && !std::ranges::count(candidates, found))
      candidates.push_back(found);
  }
  return candidates;
}

}  // namespace

absl::StatusOr<std::string> FindPythonWith(const InstallTree& tree, const std::string& package,
                                           const std::string& given, const std::string& who) {
  if (!given.empty() && FindOnPath(given).empty())
    return absl::NotFoundError("--python " + given + ": there is no such program");
  const auto candidates = given.empty() ? Candidates(tree) : std::vector<std::string>{given};
  for (const std::string& python : candidates) {
    if (HasPackage(python, package)) return python;
  }
  const std::string where =
      candidates.empty() ? "there is no Python here" : absl::StrJoin(candidates, ", ") + " has not";
  return absl::NotFoundError(who + " needs a Python with the package " + package + ", and " + where + ": pip install " +
                             package + ", or name another Python with --python");
}

}  // namespace memoir
