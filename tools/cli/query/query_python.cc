#include "tools/cli/query/query_python.h"

#include <csignal>
#include <cstring>
#include <vector>

#include "nlohmann/json.hpp"
#include "tools/cli/installed/python_package.h"
#include "tools/cli/process/child_process.h"
#include "tools/cli/process/spawn.h"
#include "tools/cli/terminal/exit_code.h"
#include "tools/cli/terminal/printed_messages.h"

namespace memoir {
namespace {

std::string PackageOf(const std::string& engine) { return engine == "spark" ? "pyspark" : "duckdb"; }

constexpr char kProgram[] =
    "import json, sys; sys.path.insert(0, sys.argv[1]); from _torch_memoir import queries; "
    "sys.exit(queries.main(json.loads(sys.argv[2])))";

}  // namespace

absl::StatusOr<std::string> FindEnginePython(const InstallTree& tree, const QueryRun& run) {
  return FindPythonWith(tree, PackageOf(run.engine), run.python, "this query");
}

int RunQuery(const InstallTree& tree, const QueryRun& run, const std::string& python) {
  const nlohmann::json arguments = {
      {"data", run.data}, {"sql", run.sql}, {"views", (tree.queries / "views").string()},        {"engine", run.engine},
      {"json", run.json}, {"top", run.top}, {"program", (tree.root / "bin" / "memoir").string()}};
  const std::string text = arguments.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  const SpawnResult child = Spawn({python, "-c", kProgram, tree.python.string(), text}, {});
  if (child.pid == 0) {
    PrintMessage("cannot start " + python + ": " + std::strerror(child.error));
    return kExitError;
  }
  const ChildResult result = ResultOf(WaitFor(child.pid));
  if (result.signal == SIGKILL) PrintMessage("the query was killed; it may have needed more memory than there is");
  return result.exit_code;
}

}  // namespace memoir
