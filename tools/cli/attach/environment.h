// This process's environment as the "NAME=value" strings that a command gets.
#ifndef TOOLS_CLI_ATTACH_ENVIRONMENT_H_
#define TOOLS_CLI_ATTACH_ENVIRONMENT_H_

#include <optional>
#include <string>
#include <vector>

#include "tools/cli/attach/attachment.h"

namespace memoir {

std::vector<std::string> CurrentEnvironment();
// With `variables` in place of those of the same name.
std::vector<std::string> EnvironmentWith(const Variables& variables);

// What TORCH_DEVICE_BACKEND_AUTOLOAD holds where it keeps torch from starting Memoir: torch starts what is installed
// beside it where the variable is not set, or is "1".
std::optional<std::string> AutoloadRefusal();

}  // namespace memoir

#endif  // TOOLS_CLI_ATTACH_ENVIRONMENT_H_
