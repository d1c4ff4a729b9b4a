// A Python that has the engine of a query, and the part of the package `memoir` that runs it there
// (python/memoir/queries).
#ifndef TOOLS_CLI_QUERY_QUERY_PYTHON_H_
#define TOOLS_CLI_QUERY_QUERY_PYTHON_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "tools/cli/installed/install_tree.h"

namespace memoir {

struct QueryRun {
  std::string engine;  // "duckdb" or "spark"
  std::string python;  // as asked for; "": one of this environment or in PATH
  std::string data;    // folder of tables, capture, or an address of such a folder
  std::string sql;     // file
  bool json = false;
  std::uint32_t top = 0;
};

// The first of those that may be meant that has the engine's package. The error says what to install.
absl::StatusOr<std::string> FindEnginePython(const InstallTree& tree, const QueryRun& run);

// The exit code.
int RunQuery(const InstallTree& tree, const QueryRun& run, const std::string& python);

}  // namespace memoir

#endif  // TOOLS_CLI_QUERY_QUERY_PYTHON_H_
