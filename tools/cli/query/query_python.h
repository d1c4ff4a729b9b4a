// Finds a Python that has the engine of a query, and runs the query in this Python. The code that runs there is in
// python/_torch_memoir/queries.
#ifndef TOOLS_CLI_QUERY_QUERY_PYTHON_H_
#define TOOLS_CLI_QUERY_QUERY_PYTHON_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "tools/cli/installed/install_tree.h"

namespace memoir {

struct QueryRun {
  std::string engine;  // "duckdb" or "spark"
  std::string python;  // the requested Python; "": any Python of this environment or on PATH
  std::string data;    // folder of tables, the address of such a folder, or a capture
  std::string sql;     // path of the SQL file
  bool json = false;
  std::uint32_t top = 0;  // number of rows
};

// Returns the first Python that contains the engine's package. The error names the package to install.
absl::StatusOr<std::string> FindEnginePython(const InstallTree& tree, const QueryRun& run);

// Runs the query and returns the exit code.
int RunQuery(const InstallTree& tree, const QueryRun& run, const std::string& python);

}  // namespace memoir

#endif  // TOOLS_CLI_QUERY_QUERY_PYTHON_H_
