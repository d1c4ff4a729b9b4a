// A Python that has a package, for what Memoir leaves to packages that it does not bring.
#ifndef TOOLS_CLI_INSTALLED_PYTHON_PACKAGE_H_
#define TOOLS_CLI_INSTALLED_PYTHON_PACKAGE_H_

#include <string>

#include "absl/status/statusor.h"
#include "tools/cli/installed/install_tree.h"

namespace memoir {

// `given`, of --python; where that is "", the first of those that may be meant: of the environment that Memoir is
// installed in, of the active one, in PATH. The error begins with `who` ("this query") and says what to install.
absl::StatusOr<std::string> FindPythonWith(const InstallTree& tree, const std::string& package,
                                           const std::string& given, const std::string& who);

}  // namespace memoir

#endif  // TOOLS_CLI_INSTALLED_PYTHON_PACKAGE_H_
