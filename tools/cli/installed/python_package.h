// Finds a Python interpreter that has a given package. Some verbs run Python code that needs a package which Memoir
// does not install.
#ifndef TOOLS_CLI_INSTALLED_PYTHON_PACKAGE_H_
#define TOOLS_CLI_INSTALLED_PYTHON_PACKAGE_H_

#include <string>

#include "absl/status/statusor.h"
#include "tools/cli/installed/install_tree.h"

namespace memoir {

// `given`: the value of --python. If it is empty, tries the Python of the environment in which Memoir is installed,
// then the Python of the active environment, then the Pythons in PATH. The error begins with `who` ("this query") and
// names the package to install.
absl::StatusOr<std::string> FindPythonWith(const InstallTree& tree, const std::string& package,
                                           const std::string& given, const std::string& who);

}  // namespace memoir

#endif  // TOOLS_CLI_INSTALLED_PYTHON_PACKAGE_H_
