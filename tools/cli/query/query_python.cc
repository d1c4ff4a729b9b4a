#include "tools/cli/query/query_python.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "tools/cli/process/child_process.h"
#include "tools/cli/process/spawn.h"
#include "tools/cli/terminal/exit_code.h"
#include "tools/cli/terminal/message.h"

namespace memoir {
namespace {

constexpr int kPatience = 60;  // seconds; a busy file server makes a Python's start slow

std::string PackageOf(const std::string& engine) { return engine == "spark" ? "pyspark" : "duckdb"; }

// Without importing it.
bool HasPackage(const std::string& python, const std::string& package) {
  const std::string program =
      "import importlib.util, sys; sys.stdout.write(str(importlib.util.find_spec('" + package + "') is not None))";
  const absl::StatusOr<std::string> said = CaptureOutput({python, "-c", program}, kPatience);
  return said.ok() && *said == "True";
}

// The Python of the environment that this is installed in (ENVIRONMENT/lib/python3.11/site-packages/memoir/_tree), of
// the one that is active, and those in PATH.
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

constexpr char kProgram[] =
    "import json, sys; sys.path.insert(0, sys.argv[1]); from memoir import queries; "
    "sys.exit(queries.main(json.loads(sys.argv[2])))";

}  // namespace

absl::StatusOr<std::string> FindEnginePython(const InstallTree& tree, const QueryRun& run) {
  const std::string package = PackageOf(run.engine);
  if (!run.python.empty() && FindOnPath(run.python).empty())
    return absl::NotFoundError("--python " + run.python + ": there is no such program");
  const auto candidates = run.python.empty() ? Candidates(tree) : std::vector<std::string>{run.python};
  for (const std::string& python : candidates) {
    if (HasPackage(python, package)) return python;
  }
  const std::string where =
      candidates.empty() ? "there is no Python here" : absl::StrJoin(candidates, ", ") + " has not";
  return absl::NotFoundError("this query needs a Python with the package " + package + ", and " + where +
                             ": pip install " + package + ", or name another Python with --python");
}

int RunQuery(const InstallTree& tree, const QueryRun& run, const std::string& python) {
  const nlohmann::json arguments = {
      {"data", run.data}, {"sql", run.sql}, {"views", (tree.queries / "views").string()},        {"engine", run.engine},
      {"json", run.json}, {"top", run.top}, {"program", (tree.root / "bin" / "memoir").string()}};
  const std::string text = arguments.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  const Spawned child = Spawn({python, "-c", kProgram, tree.python.string(), text}, {});
  if (child.pid == 0) {
    Say("cannot start " + python + ": " + std::strerror(child.error));
    return kExitError;
  }
  const ChildResult result = ResultOf(WaitFor(child.pid));
  if (result.signal == SIGKILL) Say("the query was killed; it may have needed more memory than there is");
  return result.exit_code;
}

}  // namespace memoir
